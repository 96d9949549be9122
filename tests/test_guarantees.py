"""No model can break what is promised: checked on hostile dialogues with everything a model may say."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from hostile import hostile_dialogue
from urewrite.bundle import ModelConfig
from urewrite.decide import Wish, decide
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.guarantees import violations
from urewrite.pipeline import Judged

WORDS = ConnectionWords(("of", "in", "的"), ("'s", "的"))
AMOUNT = 2000


def test_a_model_that_says_anything_breaks_no_promise():
    """Grids drawn at random: far more edits, and far stranger ones, than a trained model makes."""
    config = ModelConfig("random", WORDS, 60, {}, thresholds=Thresholds(0.5, 0.0, 0.0))
    chance = random.Random(1)
    changed = 0
    for number in range(AMOUNT):
        dialogue = hostile_dialogue(chance)
        axes = lay_out(dialogue, WORDS, most_rows=60)
        draw = np.random.default_rng(number)
        likely = draw.dirichlet([draw.choice([2.0, 20.0]), 1.0, 1.0], axes.shape).transpose(2, 0, 1)
        result = decide(config, Judged(axes, likely), Wish(keep_grid=True))
        assert violations(dialogue, result, WORDS) == [], (number, dialogue)
        changed += result.changed
    assert changed > AMOUNT / 3


def test_a_trained_model_breaks_no_promise(toy_bundle):
    from urewrite import Rewriter

    rewriter = Rewriter.from_pretrained(toy_bundle, threads=1)
    chance = random.Random(2)
    dialogues = [hostile_dialogue(chance) for _ in range(AMOUNT)]
    results = rewriter.rewrite_batch(dialogues, mode="always")
    for number, (dialogue, result) in enumerate(zip(dialogues, results, strict=True)):
        assert result.reason != "error", (number, dialogue)
        assert violations(dialogue, result, rewriter.connection_words()) == [], (number, dialogue)


def test_violations_are_seen():
    """The checks are no good if they let a broken rewrite pass."""
    dialogue = Dialogue.of(["Kobe left"], "he did")
    axes = lay_out(dialogue)
    likely = np.zeros((3, *axes.shape))
    likely[0] = 1
    likely[:, 0, 0] = 0, 1, 0
    good = decide(ModelConfig("x", ConnectionWords(), 60, {}), Judged(axes, likely), Wish())
    assert good.text == "Kobe did"
    none = ConnectionWords()
    assert violations(dialogue, good, none) == []
    (edit,) = good.edits
    for broken, said in [
        (replace(good, text="Kobe does"), "another text"),
        (replace(good, edits=()), "not the utterance"),
        (replace(good, utterance="she did"), "not the given one"),
        (replace(good, edits=(replace(edit, text="Koby"),)), "not there"),
        (replace(good, pieces=good.pieces[:-1]), "do not cover"),
        (replace(good, pieces=(good.pieces[0], good.pieces[0])), "not what they are said"),
        (replace(good, text=" ", pieces=()), "empty"),
    ]:
        assert said in " ".join(violations(dialogue, broken, none))
    assert "not there" in " ".join(violations(dialogue, replace(good, edits=(replace(edit, source_turn=None),)), none))
