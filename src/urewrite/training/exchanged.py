"""Examples in which names are exchanged for others like them: what is copied is mostly names, a small corpus has few.

A name is a run of words that are written with a capital letter within sentences; names are alike if they stand between
like words. So `Golden Wok` becomes another restaurant and `Chinese` another kind of food, all through a dialogue, its
utterance and its rewrite. Scripts without capital letters have no names here.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot

from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.edits.places import SENTENCE_END
from urewrite.tokens import Tokens, tokenize

LEAST_CAPITALS = 2
LEAST_SHARE_OF_CAPITALS = 0.3
"""Users write names in lower case too, so that not every occurrence needs its capital."""
LEAST_OCCURRENCES = 3
MOST_NAMES = 500
LEAST_LIKENESS = 0.6

Name = tuple[str, ...]
"""The words of a name in lower case."""


@dataclass(frozen=True, slots=True)
class Names:
    """The commonest names of a corpus: the words they are made of, how each is written, and which are alike."""

    words: frozenset[str]
    written: dict[Name, str]
    alike: dict[Name, list[Name]]

    def runs(self, tokens: Tokens) -> Iterator[tuple[int, int, Name]]:
        """Where names stand in a text: the first token, the one after the last, the name."""
        return _runs(tokens.keys, self.words)


def exchanged_names(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """So many examples with other names for each one that holds a name which could be exchanged."""
    names = names_of(text for example in examples for text in _texts(example))
    drawn = [example for example in examples for _ in range(int(share) + (chance.random() < share % 1))]
    return [made for made in (_exchanged(example, names, chance) for example in drawn) if made is not None]


def names_of(texts: Iterable[str]) -> Names:
    """Find the names of a corpus; a text that recurs, as the turns of a history do, counts once."""
    split = [tokenize(text) for text in dict.fromkeys(texts)]
    words = _capitalised(split)
    neighbours: defaultdict[Name, Counter[tuple[str, str]]] = defaultdict(Counter)
    written: defaultdict[Name, Counter[str]] = defaultdict(Counter)
    for tokens in split:
        keys = ("", *tokens.keys, "")
        for first, end, name in _runs(tokens.keys, words):
            neighbours[name].update((("before", keys[first]), ("after", keys[end + 1])))
            written[name][tokens.text[tokens.starts[first] : tokens.ends[end - 1]]] += 1
    commonest = Counter({name: forms.total() for name, forms in written.items()}).most_common(MOST_NAMES)
    known = {name: neighbours[name] for name, times in commonest if times >= LEAST_OCCURRENCES}
    alike = {
        name: [other for other in known if other != name and _likeness(around, known[other]) >= LEAST_LIKENESS]
        for name, around in known.items()
    }
    return Names(words, {name: written[name].most_common(1)[0][0] for name in known}, alike)


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


def _runs(keys: Sequence[str], words: frozenset[str]) -> Iterator[tuple[int, int, Name]]:
    first = 0
    while first < len(keys):
        end = first
        while end < len(keys) and keys[end] in words:
            end += 1
        if end > first:
            yield first, end, tuple(keys[first:end])
        first = end + 1


def _likeness(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """The cosine between what two names stand beside."""
    shared = sum(times * other[beside] for beside, times in one.items() if beside in other)
    return shared / (hypot(*one.values()) * hypot(*other.values()))


def _texts(example: Example) -> Iterator[str]:
    yield from (turn.text for turn in example.dialogue.history)
    yield example.dialogue.utterance
    yield example.rewrite


def _exchanged(example: Example, names: Names, chance: random.Random) -> Example | None:
    """The example with every name that has others like it exchanged for one of them, or nothing if there is none.

    Names that share a word, such as a whole name and a part of it, stay: one of them might be copied from the other.
    """
    there = dict.fromkeys(name for text in _texts(example) for _, _, name in names.runs(tokenize(text)))
    used = Counter(word for name in there for word in set(name))
    chosen: dict[Name, Name] = {}
    for name in there:
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
