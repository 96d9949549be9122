"""Examples in which names are exchanged for others like them: what is copied is mostly names, a small corpus has few.

A name is a run of words that are written with a capital letter within sentences. In scripts without capital letters it
is a span that rewrites of several examples took from their histories; many such spans are common words, so only that
which the rewrite of an example took is exchanged there. Names are alike if they stand between like words. So `Golden
Wok` becomes another restaurant, `Chinese` another kind of food, 周杰伦 somebody else, all through a dialogue, its
utterance and its rewrite.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.edits.alignment import differing_spans
from urewrite.edits.places import SENTENCE_END
from urewrite.tokens import Tokens, tokenize
from urewrite.training.progress import with_bar

LEAST_CAPITALS = 2
LEAST_SHARE_OF_CAPITALS = 0.3
"""Users write names in lower case too, so that not every occurrence needs its capital."""
LEAST_COPIES = 2
LEAST_CHARACTERS, MOST_WORDS = 2, 6
"""Of a span that was copied: less is mostly a pronoun, more mostly a clause."""
LEAST_OCCURRENCES = 3
MOST_NAMES = 2000
LEAST_LIKENESS = 0.6

Name = tuple[str, ...]
"""The words of a name in lower case."""


@dataclass(frozen=True, slots=True)
class Names:
    """The commonest names of a corpus: what they are told by, how each is written, and which are alike."""

    words: frozenset[str]
    """Words with capitals."""
    copied: Mapping[str, Sequence[Name]]
    """Spans without, by their first word, long ones first."""
    written: dict[Name, str]
    alike: dict[Name, list[Name]]

    def runs(self, tokens: Tokens) -> Iterator[tuple[int, int, Name]]:
        """Where names stand in a text: the first token, the one after the last, the name."""
        return _runs(tokens.keys, self.words, self.copied)


def exchanged_names(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """So many examples with other names for each one that holds a name which could be exchanged."""
    names = names_of(examples)
    drawn = [example for example in examples for _ in range(int(share) + (chance.random() < share % 1))]
    found = (_exchanged(example, names, chance) for example in with_bar(drawn, "Exchanging names"))
    return [made for made in found if made is not None]


def names_of(examples: Iterable[Example]) -> Names:
    """Find the names of a corpus; a text that recurs, as the turns of a history do, counts once."""
    examples = list(examples)
    texts = list(dict.fromkeys(text for example in examples for text in _texts(example)))
    split = [tokenize(text) for text in with_bar(texts, "Finding names", "text")]
    words, copied = _capitalised(split), _copied(examples)
    neighbours: defaultdict[Name, Counter[tuple[str, str]]] = defaultdict(Counter)
    written: defaultdict[Name, Counter[str]] = defaultdict(Counter)
    for tokens in split:
        keys = ("", *tokens.keys, "")
        for first, end, name in _runs(tokens.keys, words, copied):
            neighbours[name].update((("before", keys[first]), ("after", keys[end + 1])))
            written[name][_spelled(tokens, first, end)] += 1
    commonest = Counter({name: forms.total() for name, forms in written.items()}).most_common(MOST_NAMES)
    known = {name: neighbours[name] for name, times in commonest if times >= LEAST_OCCURRENCES}
    return Names(words, copied, {name: written[name].most_common(1)[0][0] for name in known}, _alike(known))


def _capitalised(texts: Iterable[Tokens]) -> frozenset[str]:
    """Words that have a capital letter where no sentence begins."""
    within: Counter[str] = Counter()
    capitals: Counter[str] = Counter()
    for tokens in texts:
        for previous, word, key in zip(tokens.words, tokens.words[1:], tokens.keys[1:], strict=False):
            if previous not in SENTENCE_END and len(word) > 1 and word[0].isalpha():
                within[key] += 1
                capitals[key] += word[0].isupper()
    return frozenset(
        key
        for key, times in capitals.items()
        if times >= LEAST_CAPITALS and times >= LEAST_SHARE_OF_CAPITALS * within[key]
    )


def _copied(examples: Iterable[Example]) -> dict[str, list[Name]]:
    """Spans without capitals that rewrites took whole from their histories, by their first word, long ones first."""
    copies: Counter[Name] = Counter()
    for example in examples:
        before, after = tokenize(example.dialogue.utterance), tokenize(example.rewrite)
        for gap in differing_spans(before.keys, after.keys):
            name = after.keys[gap.new_start : gap.new_end]
            if not 0 < len(name) <= MOST_WORDS or not all(map(_has_no_case, name)):
                continue
            text = _spelled(after, gap.new_start, gap.new_end)
            if len(text) >= LEAST_CHARACTERS and any(text in turn.text for turn in example.dialogue.history):
                copies[name] += 1
    found: defaultdict[str, list[Name]] = defaultdict(list)
    for name in sorted((name for name, times in copies.items() if times >= LEAST_COPIES), key=len, reverse=True):
        found[name[0]].append(name)
    return dict(found)


def _has_no_case(word: str) -> bool:
    return word.isalpha() and word.upper() == word.lower()


def _runs(
    keys: Sequence[str], words: frozenset[str], copied: Mapping[str, Sequence[Name]]
) -> Iterator[tuple[int, int, Name]]:
    first = 0
    while first < len(keys):
        end = first
        while end < len(keys) and keys[end] in words:
            end += 1
        if end == first:
            spans = copied.get(keys[first], ())
            end += next((len(name) for name in spans if tuple(keys[first : first + len(name)]) == name), 0)
        if end > first:
            yield first, end, tuple(keys[first:end])
        first = max(end, first + 1)


def _alike(known: Mapping[Name, Counter[tuple[str, str]]]) -> dict[Name, list[Name]]:
    """Of each name those that stand beside nearly the same, by the cosine."""
    names = list(known)
    places = {place: number for number, place in enumerate({beside for around in known.values() for beside in around})}
    counts = np.zeros((len(names), len(places)), dtype=np.float32)
    for row, name in enumerate(names):
        for beside, times in known[name].items():
            counts[row, places[beside]] = times
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    alike = counts @ counts.T >= LEAST_LIKENESS
    np.fill_diagonal(alike, val=False)
    return {name: [names[other] for other in np.flatnonzero(row)] for name, row in zip(names, alike, strict=True)}


def _spelled(tokens: Tokens, first: int, end: int) -> str:
    return tokens.text[tokens.starts[first] : tokens.ends[end - 1]]


def _texts(example: Example) -> Iterator[str]:
    yield from (turn.text for turn in example.dialogue.history)
    yield example.dialogue.utterance
    yield example.rewrite


def _exchanged(example: Example, names: Names, chance: random.Random) -> Example | None:
    """The example with every name that has others like it exchanged for one of them, or nothing if there is none.

    Names that share a word, such as a whole name and a part of it, stay: one of them might be copied from the other.
    """
    *history, utterance, rewrite = ([run[2] for run in names.runs(tokenize(text))] for text in _texts(example))
    told = dict.fromkeys(name for turn in history for name in turn)
    there = dict.fromkeys((*told, *utterance, *rewrite))
    used = Counter(word for name in there for word in set(name))
    chosen: dict[Name, Name] = {}
    for name in there:
        taken = name in told and name in rewrite and name not in utterance
        if _has_no_case(name[0]) and not taken:
            continue
        free = [other for other in names.alike.get(name, ()) if not any(word in used for word in other)]
        if free and all(used[word] == 1 for word in name):
            chosen[name] = chance.choice(free)
            used.update(chosen[name])
    if not chosen:
        return None

    def rewritten(text: str) -> str:
        tokens = tokenize(text)
        for first, end, name in reversed(list(names.runs(tokens))):
            if name in chosen:
                start, stop = tokens.starts[first], tokens.ends[end - 1]
                new = names.written[chosen[name]]
                text = text[:start] + (new.lower() if text[start:stop].islower() else new) + text[stop:]
        return text

    return _with_texts(example, rewritten)


def _with_texts(example: Example, rewritten: Callable[[str], str]) -> Example:
    history = tuple(Turn(rewritten(turn.text), turn.role) for turn in example.dialogue.history)
    utterance = rewritten(example.dialogue.utterance)
    return Example(Dialogue(history, utterance), rewritten(example.rewrite), example.dialogue_id)
