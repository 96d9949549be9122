"""Settings that were tried, did not pay, and are gone. Files of runs from when they were there still name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RETIRED: Mapping[str, object] = {
    "optimiser.label_smoothing": 0.0,
    "optimiser.loss": "cross-entropy",
    "optimiser.neighbours": 0.0,
}
"""Each with the value for what is done now."""


def without_retired(document: object) -> tuple[object, dict[str, Any]]:
    """The document without them, and those that ask for something else than what is done now."""
    if not isinstance(document, dict):
        return document, {}
    kept, others = dict(document), dict[str, Any]()
    for key, as_now in RETIRED.items():
        group, _, name = key.partition(".")
        held = kept.get(group)
        if not isinstance(held, dict) or name not in held:
            continue
        kept[group] = {other: value for other, value in held.items() if other != name}
        if held[name] != as_now:
            others[key] = held[name]
    return kept, others
