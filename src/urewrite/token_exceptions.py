"""The English word lists of the tokeniser: abbreviations that keep their dot, words written together that are two."""

from __future__ import annotations

# Only abbreviations whose letters do not also end ordinary sentences: "Miss.", "Mar.", "Wash." would do more harm.
_ABBREVIATIONS = """
    adm bros co corp dr gen gov inc jr ltd messrs mr mrs ms mt prof rep rev sen st
    jan feb apr aug sept sep oct nov dec
    ariz calif colo conn fla mich minn okla tenn
    vs
"""

ABBREVIATIONS: tuple[str, ...] = tuple(
    form for abbreviation in _ABBREVIATIONS.split() for form in (abbreviation, abbreviation.capitalize())
)

_VERBS_WITH_NT = """
    ai are ca could dare did do does had has have is may might must need ought sha should was were wo would
"""

# Forms that are words of their own ("id", "ill", "its", "well", "were", "here", "shed", "wed", "hell")
# are left out: cutting them would hurt more texts than it would help.
_PRONOUN_ENDINGS = {
    "i": "m ve",
    "he": "s",
    "she": "s",
    "it": "d ll",
    "they": "d ll re ve",
    "we": "ve",
    "you": "d ll re ve",
    "that": "d ll s",
    "there": "d ll s",
    "this": "ll",
    "how": "d ll re s",
    "what": "d ll re s ve",
    "when": "d ll s",
    "where": "d ll s ve",
    "who": "d ll s ve",
    "why": "d s",
    "could": "ve",
    "might": "ve",
    "must": "ve",
    "should": "ve",
    "would": "ve",
}

_OTHER_PAIRS = (("can", "not"), ("gon", "na"), ("got", "ta"), ("y'", "all"), ("y’", "all"))


def _cuts() -> dict[str, int]:
    pairs = [(verb, "nt") for verb in _VERBS_WITH_NT.split()]
    pairs += [(pronoun, ending) for pronoun, endings in _PRONOUN_ENDINGS.items() for ending in endings.split()]
    pairs += _OTHER_PAIRS
    lower = {first + second: len(first) for first, second in pairs}
    return lower | {word[0].upper() + word[1:]: cut for word, cut in lower.items()}


# Where a word that is really two words is cut: "cannot" after three letters.
CUTS: dict[str, int] = _cuts()
