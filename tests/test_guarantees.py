"""No model can break what is promised: checked on hostile dialogues with everything a model may say."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hostile import fuzz, hostile_dialogue
from urewrite import Rewriter
from urewrite.bundle import GRAPH, ModelConfig
from urewrite.decide import Wish, decide
from urewrite.dialogue import Dialogue
from urewrite.edits.apply import apply_edits
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.guarantees import failures_logged, violations
from urewrite.pipeline import Judged
from urewrite.pretrained import MODELS
from urewrite.rewrite import Edit
from urewrite.rewriter import load_pipeline

WORDS = ConnectionWords(("of", "in", "的"), ("'s", "的"))
AMOUNT = 2000


def failing(when):
    """A bundled model that fails on batches of so many dialogues."""

    def instead(batch, found):
        raise RuntimeError("on purpose")

    return _with_other_runs(when, instead)


def disturbed(when):
    """A bundled model that is another one in batches of so many dialogues."""
    return _with_other_runs(when, lambda batch, found: found()[:, ::-1])


def _with_other_runs(when, instead):
    pipeline = load_pipeline(MODELS / "en-fast", threads=1)

    def run(batch):
        def found():
            return pipeline.run(batch)

        return instead(batch, found) if when(len(batch.heights)) else found()

    return Rewriter.of(replace(pipeline, run=run))


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


def test_a_failure_that_leaves_no_trace_in_the_results_is_noticed():
    """A batch that fails is done again one by one, with results as good as any."""
    outcome = fuzz(failing(lambda dialogues: dialogues > 1), 200, random.Random(2))
    assert (outcome.broken, outcome.reasons["error"]) == ([], 0)
    assert outcome.reasons["rewritten"] > 0
    assert set(outcome.failures) == {"a batch failed; its dialogues are rewritten one by one: RuntimeError: on purpose"}


def test_a_failure_that_loses_a_rewrite_is_noticed():
    """The promises are kept even then."""
    outcome = fuzz(failing(lambda _: True), 20, random.Random(2))
    given_back = "an utterance was not rewritten and is given back as it is: RuntimeError: on purpose"
    assert outcome.broken == []
    assert 0 < outcome.reasons["error"] <= outcome.failures.count(given_back)


def test_another_result_alone_than_among_others_is_noticed():
    outcome = fuzz(disturbed(lambda dialogues: dialogues > 1), 50, random.Random(2))
    assert outcome.failures == []
    assert outcome.broken
    assert all(line.startswith("alone it") for line in outcome.broken)


def test_failures_are_seen_whatever_the_level_of_the_log():
    logger = logging.getLogger("urewrite")
    before = logger.level, logger.disabled
    logger.setLevel(logging.CRITICAL)
    logger.disabled = True
    try:
        with failures_logged() as found:
            logger.info("all is well")
            logging.getLogger("urewrite.serve").warning("of %s", "a part")
            logger.error("of the whole")
        logger.error("too late")
        assert found == ["of a part", "of the whole"]
        assert (logger.level, logger.disabled) == (logging.CRITICAL, True)
    finally:
        logger.level, logger.disabled = before


@pytest.fixture
def benchmark(monkeypatch, tmp_path):
    """What the benchmark writes, what the docs say of it, and its exit code."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    guarantees = importlib.import_module("benchmarks.guarantees")
    models = importlib.import_module("benchmarks.tables.models")
    file = tmp_path / "guarantees.json"
    monkeypatch.setattr("benchmarks.tables.layout.RESULTS", tmp_path)

    def run(rewriter=None):
        """With this one in place of the model."""
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["", "--model", "en-fast", "--dialogues", "60", "--output", str(file)])
            if rewriter is not None:
                patch.setattr(guarantees.Rewriter, "from_pretrained", lambda _: rewriter)
            with pytest.raises(SystemExit) as ended:
                guarantees.main()
        return json.loads(file.read_text(encoding="utf-8")), ended.value.code

    def published(rows):
        file.write_text(json.dumps(rows), encoding="utf-8")
        lines = [line for line in models.guarantees().splitlines() if line.startswith("| ")]
        return [line.strip("| ").split(" | ") for line in lines[1:]]

    return run, published


def test_the_benchmark_keeps_which_graph_it_measured(benchmark):
    run, published = benchmark
    (row,), code = run()
    assert code == 0
    assert (row["dialogues"], row["broken"], row["failures"]) == (60, 0, {})
    assert row["graph"] == hashlib.sha256((MODELS / "en-fast" / GRAPH).read_bytes()).hexdigest()
    shown = published([row, {**row, "graph": "0" * 64}, {**row, "model": "mine"}])
    assert [cells[-1] for cells in shown] == ["shipped", "former graph", "not bundled"]
    assert {tuple(cells[1:5]) for cells in shown} == {("60", "0", "0", str(row["reasons"]["rewritten"]))}


def test_the_benchmark_fails_where_anything_failed_inside(benchmark, capsys):
    run, published = benchmark
    (row,), code = run(failing(lambda dialogues: dialogues > 1))
    assert code == 1
    assert row["broken"] == 0
    ((failure, times),) = row["failures"].items()
    assert failure.endswith("RuntimeError: on purpose")
    assert failure in capsys.readouterr().out
    assert published([row])[0][3] == str(times)


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
        (replace(good, text="[S] did", pieces=(replace(good.pieces[0], end=3), good.pieces[1])), "[S] is in the text"),
    ]:
        assert said in " ".join(violations(dialogue, broken, none))
    assert "not there" in " ".join(violations(dialogue, replace(good, edits=(replace(edit, source_turn=None),)), none))


def test_parts_that_meet_are_no_separator():
    dialogue = Dialogue.of(["see [ S] there"], "why it ?")
    edits = (Edit("insert", 7, 7, "[", 0, 4, 5), Edit("insert", 7, 7, "S]", 0, 6, 8, after=" "))
    met = apply_edits(dialogue, edits)
    assert met.text == "why it [S] ?"
    assert violations(dialogue, met, ConnectionWords()) == []
