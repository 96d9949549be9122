"""Thresholds are those under which a validation part scores best; what does not pay is left as the paper has it."""

from __future__ import annotations

import numpy as np
import pytest

from urewrite.bundle import ModelConfig
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords, EditType, lay_out
from urewrite.pipeline import Judged, Pipeline
from urewrite.prepare import Vocabulary
from urewrite.training.tune import counted_with, tune, tuned

WORDS = ConnectionWords(("of",))
DIALOGUE = Dialogue.of(["try Meghna", "or Nandos"], "what is the number ?")
AXES = lay_out(DIALOGUE, WORDS)
EM = counted_with("em")
OF, MEGHNA, NANDOS = 0, 3, 6
AT = 4


def judged(**cells):
    found = np.zeros((3, *AXES.shape))
    for row, likely in ((OF, cells.get("of")), (MEGHNA, cells.get("meghna")), (NANDOS, cells.get("nandos"))):
        found[EditType.INSERT, row, AT] = likely or 0
    found[EditType.NONE] = 1 - found[EditType.INSERT]
    return Judged(AXES, found)


def examples(*rewrites):
    return [Example(DIALOGUE, f"what is the number {rewrite}?", f"x:{at}") for at, rewrite in enumerate(rewrites)]


def test_what_is_sure_enough_is_told_from_what_is_not():
    given = [judged(meghna=0.95), judged(meghna=0.65), judged(nandos=0.95)]
    chosen, metrics = tune(given, examples("Meghna ", "", "Nandos "), EM)
    assert metrics["em"] == 100
    assert chosen.region > 0.65
    assert (chosen.further, chosen.joining) == (0, 1)


def test_bleu_counts_once_however_weights_are_chosen():
    assert counted_with("em_and_bleu4") == counted_with("em") == ("em", "bleu4")
    assert counted_with("bleu4") == ("bleu4",)


def test_what_is_counted_decides():
    """An edit that breaks one match and brings a long rewrite nearer: exact match is better without it, BLEU-1 with."""
    given = [judged(meghna=0.65), judged(meghna=0.65)]
    long = Example(DIALOGUE, "what is the number of the Meghna that we all like ?", "x:1")
    wanted = [*examples(""), long]
    _, by_match = tune(given, wanted, ["em"])
    _, by_words = tune(given, wanted, ["bleu1"])
    assert (by_match["em"], by_words["em"]) == (50, 0)
    assert by_words["bleu1"] > by_match["bleu1"]


def test_spans_that_compete_for_a_place():
    given = [judged(meghna=0.9, nandos=0.85), judged(meghna=0.85, nandos=0.9)]
    chosen, metrics = tune(given, examples("Meghna ", "Nandos "), EM)
    assert metrics["em"] == 100
    assert chosen.further > 0.85
    chosen, metrics = tune(given, examples("Meghna Nandos ", "Meghna Nandos "), EM)
    assert (metrics["em"], chosen.further) == (100, 0)


@pytest.mark.parametrize(("likely", "joining"), [(0.25, 0.2), (0.12, 0.1)])
def test_connection_words_that_join(likely, joining):
    given = [judged(meghna=0.9, of=likely), judged(nandos=0.9, of=likely), judged(nandos=0.9)]
    chosen, metrics = tune(given, examples("of Meghna ", "of Nandos ", "Nandos "), EM)
    assert metrics["em"] == 100
    assert chosen == Thresholds(joining=joining)


def test_utterances_to_be_left_alone_count_beside_the_validation_part():
    """Where nearly all is rewritten, little evidence is enough; not where other utterances must stay as they are."""

    def hesitant(arrays):
        found = np.zeros((len(arrays.heights), 3, *arrays.match.shape[1:]))
        found[:, EditType.INSERT, 0, AT] = 0.45
        found[:, EditType.NONE] = 1 - found[:, EditType.INSERT]
        return found

    dialogue = Dialogue.of(["Nandos"], DIALOGUE.utterance)
    config = ModelConfig(name="hesitant", connection_words=ConnectionWords(), most_rows=50, network={})
    pipeline = Pipeline(config, Vocabulary.of([lay_out(dialogue)]), hesitant)
    rewritten = [Example(dialogue, "what is the number Nandos ?")] * 3
    alone = [Example(dialogue, dialogue.utterance)] * 4
    eager, metrics = tuned(pipeline, rewritten, "em")
    assert (eager.thresholds.lone, metrics["em"]) == (0, 100)
    careful, metrics = tuned(pipeline, rewritten, "em", alone)
    assert careful.thresholds.cell > 0.45 or careful.thresholds.lone > 0.45
    assert metrics["em"] == 0  # of the validation part, which alone is measured
