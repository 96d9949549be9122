from __future__ import annotations

import importlib
import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import yaml

from training.trained import train_toy
from urewrite.bundle import read_config
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords
from urewrite.scoring import METRICS
from urewrite.training.report import encoder_name, keep_log, report_tuned, write_report
from urewrite.training.settings import check_settings, load_settings

HEADER = "bleu4,em,epoch,f1,step,train_loss_epoch,train_loss_step,validation_loss"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train_toy(tmp_path_factory.mktemp("report"), epochs=3)


@pytest.fixture
def settings(run):
    return load_settings(run / "settings.yaml")


@pytest.fixture
def config(run):
    return read_config(run)


def front_matter(folder):
    _, head, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


def log(folder, *rows, name="metrics.csv"):
    (folder / "log").mkdir(exist_ok=True)
    (folder / "log" / name).write_text("\n".join((HEADER, *rows)), encoding="utf-8")


def test_a_real_run_is_reported(run, settings, config):
    write_report(run, settings, config, parameters=12345, best=None)
    found = json.loads((run / "metrics.json").read_text())
    assert [epoch["epoch"] for epoch in found["epochs"]] == [1, 2, 3]
    steps = found["epochs"][0]["step"]
    assert [epoch["step"] for epoch in found["epochs"]] == [steps, 2 * steps, 3 * steps]
    assert all({"train_loss", "validation_loss", *METRICS} <= set(epoch) for epoch in found["epochs"])
    assert found["best"]["em"] == max(epoch["em"] for epoch in found["epochs"])
    assert (found["validation"], found["monitor"]) == ("validation.jsonl", "em")
    head, body = front_matter(run)
    assert set(head) == {"tags", "metrics"}
    assert [f"- train.jsonl: {line.rpartition(': ')[2]}\n" in body for line in config.trained_on] == [True]
    assert "| parameters | 12,345 |" in body
    assert "| epochs | 3 of at most 3 |" in body
    assert (
        f"| | most likely type of each cell, without repeats |\n|---|---|\n| Exact match | {found['best']['em']:.2f} |"
        in body
    )
    assert "| | |\n|---|---|\n| context layer |" in body
    assert str(run.parent) not in body
    content = (run / "curves.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 10_000
    width, height = struct.unpack(">II", content[16:24])
    assert width > height > 300
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == []


def test_the_card_names_corpora_licences_and_words(tmp_path, settings, config):
    settings = settings.model_copy(
        update={"data": settings.data.model_copy(update={"validation": ("rewrite:validation",), "only_exact": True})}
    )
    words = ConnectionWords(("of",), ("'s",))
    lines = ("rewrite: 17,000 examples", "canard:train: 5 examples", "rewrites taken as utterances: 3 examples")
    write_report(tmp_path, settings, replace(config, trained_on=lines, connection_words=words), parameters=1, best=None)
    head, body = front_matter(tmp_path)
    assert head["language"] == ["en", "zh"]
    assert "license" not in head
    assert "rewrite: 17,000 examples — Su et al." in body
    assert "no licence stated" in body
    assert "licence CC BY-SA 4.0" in body
    assert "only rewrites that edits can make" in body
    assert "chosen on `rewrite:validation`." in body
    assert "before what is copied: `of`" in body
    assert "after what is copied: `'s`" in body
    assert "--corpus rewrite --part test" in body


def test_the_card_says_how_to_evaluate_on_what_the_run_itself_learned_from(tmp_path, settings, config):
    lines = ("canard: 5 examples", "task: 7 examples")  # the first is what it went on from
    settings = settings.model_copy(update={"data": settings.data.model_copy(update={"corpus": ("task",)})})
    write_report(tmp_path, settings, replace(config, trained_on=lines), parameters=1, best=None)
    assert "--corpus task --part test" in front_matter(tmp_path)[1]


@pytest.mark.parametrize(
    ("lines", "encoder", "licence"),
    [
        (("canard: 5 examples",), None, "cc-by-sa-4.0"),
        (("canard: 5 examples", "mine.jsonl: 5 examples"), None, None),
        (("canard: 5 examples", "task: 5 examples"), None, None),
        (("canard: 5 examples",), {"model_type": "bert"}, None),
    ],
)
def test_a_licence_is_named_only_where_it_is_clear(tmp_path, settings, config, lines, encoder, licence):
    write_report(tmp_path, settings, replace(config, trained_on=lines, encoder=encoder), parameters=1, best=None)
    assert front_matter(tmp_path)[0].get("license") == licence


def test_an_encoder_is_named_without_the_way_to_it(tmp_path, settings, config):
    network = {**config.network, "encoder": {"model": "/somewhere/weights/bert-small", "layers": 4}}
    write_report(tmp_path, settings, replace(config, network=network), parameters=1, best=None)
    body = front_matter(tmp_path)[1]
    assert "`bert-small`, its first 4 layers" in body
    assert "learning rate of the encoder" in body
    assert "somewhere" not in body
    assert encoder_name("google/bert_uncased") == "google/bert_uncased"
    assert encoder_name("~/bert-small") == "bert-small"


def test_word_vectors_are_named_however_far_back_they_came_in(tmp_path, settings, config):
    starts = {"first": {"vectors": "glove.6B.100d"}, "second": {"model": str(tmp_path / "first")}}
    for name, start in starts.items():
        (tmp_path / name).mkdir()
        document = {"name": name, "data": {"corpus": "task"}, "start": start}
        (tmp_path / name / "settings.yaml").write_text(yaml.safe_dump(document))
    third = check_settings(
        {**settings.model_dump(), "start": {"model": str(tmp_path / "second"), "only_context": True}}
    )
    write_report(tmp_path, third, config, parameters=1, best=None)
    body = front_matter(tmp_path)[1]
    assert "| model whose context layer to start from | `second` |" in body
    assert "| word vectors that one started from | `glove.6B.100d` (licence: PDDL) |" in body


@pytest.mark.parametrize("started", [False, True])
def test_a_run_without_a_finished_epoch_says_so(tmp_path, settings, config, started):
    if started:
        log(tmp_path, ",,0,,19,,0.9,", ",,0,,39,,")
    write_report(tmp_path, settings, config, parameters=1, best=None)
    assert "No epoch was finished" in front_matter(tmp_path)[1]
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert found["epochs"] == []
    assert found["best"] is None
    assert not (tmp_path / "curves.png").exists()


def test_the_logs_of_an_interrupted_run_are_one(tmp_path, settings, config):
    keep_log(tmp_path)
    log(tmp_path, "5,10,0,5,9,,,0.5", ",,0,,9,0.7,,", "7,40,1,7,14,,,0.4")
    keep_log(tmp_path)
    log(tmp_path, "6,30,1,6,19,,,0.3", ",,1,,19,0.6,,")
    keep_log(tmp_path)
    assert not (tmp_path / "log" / "metrics.csv").exists()
    log(tmp_path, "8,20,2,8,29,,,0.2", "9,1,")
    write_report(tmp_path, settings, config, parameters=1, best=("em", 40.0000008))
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert [(epoch["epoch"], epoch["step"], epoch["em"]) for epoch in found["epochs"]] == [
        (1, 10, 10),
        (2, 20, 30),
        (3, 30, 20),
    ]
    assert [epoch.get("train_loss") for epoch in found["epochs"]] == [0.7, 0.6, None]
    assert (found["best"]["epoch"], found["best"]["step"], found["best"]["em"]) == (2, 15, 40)
    write_report(tmp_path, settings, config, parameters=1, best=("em", 77.0))
    assert json.loads((tmp_path / "metrics.json").read_text())["best"] is None
    assert "The log lacks the epoch" in front_matter(tmp_path)[1]


def test_the_metrics_of_both_ways_to_decode_are_said(tmp_path, settings, config):
    log(tmp_path, "5,10,0,5,9,,,0.5", "7,40,1,7,19,,,0.4")
    write_report(tmp_path, settings, config, parameters=1, best=("em", 40), tuned={"em": 44, "bleu4": 8, "f3": 3})
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert (found["best"]["em"], found["tuned"]["em"]) == (40, 44)
    assert found["decoding"]["best"] == found["decoding"]["epochs"] == "most likely type of each cell, without repeats"
    assert found["decoding"]["tuned"] == "with thresholds"
    body = front_matter(tmp_path)[1]
    table = body.partition("## Validation\n\n")[2].split("\n\n")[:2]
    assert table[0] == "The weights were chosen by the Exact match of the first column."
    assert table[1].splitlines() == [
        "| | most likely type of each cell, without repeats | with thresholds |",
        "|---|---|---|",
        "| Exact match | 40.00 | 44.00 |",
        "| BLEU-4 | 7.00 | 8.00 |",
        "| Rewriting F1 | 7.00 | – |",
        "| Rewriting F3 | – | 3.00 |",
    ]
    write_report(tmp_path, settings, config, parameters=1, best=("em", 77.0), tuned={"em": 78})
    body = front_matter(tmp_path)[1]
    assert "The log lacks the epoch" in body
    assert "| | with thresholds |\n|---|---|\n| Exact match | 78.00 |" in body


def test_weights_chosen_by_two_metrics_are_the_best_by_their_sum(tmp_path, settings, config):
    optimiser = settings.optimiser.model_copy(update={"monitor": "em_and_bleu4"})
    settings = settings.model_copy(update={"optimiser": optimiser})
    log(tmp_path, "50,41,0,5,9,,,0.5", "53,40,1,7,19,,,0.4", "54,38,2,7,29,,,0.4", ",39,3,7,39,,,0.4")
    for best in (None, ("em_and_bleu4", 93.0)):
        write_report(tmp_path, settings, config, parameters=1, best=best)
        found = json.loads((tmp_path / "metrics.json").read_text())
        assert (found["monitor"], found["best"]["epoch"]) == ("em_and_bleu4", 2)
        body = front_matter(tmp_path)[1]
        assert "| weights kept | epoch 2, step 20, by Exact match + BLEU-4 |" in body
        assert "The weights were chosen by the Exact match + BLEU-4 of the first column." in body


def test_thresholds_chosen_anew_change_nothing_else(tmp_path, settings, config):
    log(tmp_path, "5,10,0,5,9,,,0.5", "7,40,1,7,19,,,0.4")
    write_report(tmp_path, settings, config, parameters=7, best=("em", 40), tuned={"em": 44, "bleu4": 8})
    before, card = json.loads((tmp_path / "metrics.json").read_text()), front_matter(tmp_path)
    report_tuned(tmp_path, settings, config, {"em": 44, "bleu4": 8})
    assert (json.loads((tmp_path / "metrics.json").read_text()), front_matter(tmp_path)) == (before, card)
    other = replace(config, thresholds=Thresholds(0.4, 0.7, 0.6, 0.9, 0.2))
    report_tuned(tmp_path, settings, other, {"em": 45.5, "bleu4": 9})
    after = json.loads((tmp_path / "metrics.json").read_text())
    assert after == {**before, "tuned": {"em": 45.5, "bleu4": 9}}
    body = front_matter(tmp_path)[1]
    assert "| Exact match | 40.00 | 45.50 |" in body
    assert "a second one for the same place from 0.9, a connection word beside one from a probability of 0.2." in body


def test_the_card_tells_of_a_lexicon(run, settings, config):
    told = replace(config, network={**config.network, "lexicon": 12345})
    for given, said in (
        (told, "dimensions, with a lexicon of 12,345 terms whose vectors are not trained, then"),
        (config, "dimensions, then"),
    ):
        write_report(run, settings, given, parameters=1, best=None)
        assert f"{said} a BiLSTM" in front_matter(run)[1]


def test_a_run_goes_on_from_one_that_was_made_with_a_setting_that_is_gone(tmp_path, run, settings, config):
    before = tmp_path / "before"
    before.mkdir()
    told = settings.model_dump(mode="json")
    told["start"]["vectors"] = "some-vectors.50d"
    told["optimiser"]["label_smoothing"] = 0.05
    (before / "settings.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    start = settings.start.model_copy(update={"model": str(before)})
    write_report(run, settings.model_copy(update={"start": start}), config, parameters=1, best=None)
    assert "| word vectors that one started from | `some-vectors.50d` |" in front_matter(run)[1]


def made_run(runs, folder, em, *, name=None, seed=1, test=True, network=None, epochs=None, start=None):
    """A run folder as training and evaluation leave it, without the weights."""
    place = runs / folder
    place.mkdir(parents=True)
    document = {"name": name or folder, "seed": seed, "data": {"corpus": "rewrite"}, "network": network or {}}
    document |= {} if start is None else {"start": {"model": start}}
    settings = check_settings(document)
    stored = settings.model_dump(mode="json")
    (place / "settings.yaml").write_text(yaml.safe_dump(stored), encoding="utf-8")
    config = {"network": stored["network"], "trained_on": ["rewrite: 17,000 examples", "/x/y/mine.jsonl: 3 examples"]}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    metrics = dict.fromkeys(METRICS, em)
    found = {"validation": "rewrite:validation", "best": {"epoch": 1, **metrics}, "epochs": [{}] * seed}
    found["tuned"] = dict.fromkeys(METRICS, em + 1)
    (place / "metrics.json").write_text(json.dumps(found), encoding="utf-8")
    if epochs is not None:
        stored["optimiser"]["epochs"] = epochs
        stored["network"] = {}  # as runs that went on from a model once had it: what they trained is in config.json
        (place / "settings.yaml").write_text(yaml.safe_dump(stored), encoding="utf-8")
    if test:
        evaluation = {"model": folder, "corpus": "rewrite", "part": "test", "n": 2000, "metrics": metrics}
        (place / "evaluation-rewrite-test.json").write_text(json.dumps(evaluation), encoding="utf-8")


@pytest.fixture
def published(tmp_path, monkeypatch):
    """The tables that a folder of runs gives."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")

    def tables(runs):
        publish, results_table = map(importlib.import_module, ("publish", "results_table"))
        monkeypatch.setattr("benchmarks.tables.layout.RESULTS", tmp_path)
        found = results_table.collect(runs)
        (tmp_path / "results.json").write_text(json.dumps(found), encoding="utf-8")
        names = ("test_results", "test_results_short", "ablations", "improvements")
        return {name: publish.TABLES[name]() for name in names}

    return tables


def cells(table, start):
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith(f"| {start}")]


def test_without_runs_the_tables_say_so(tmp_path, published):
    for table in published(tmp_path / "none").values():
        assert "yet. `python benchmarks/results_table.py` writes the table." in table
        assert "|" not in table


def test_runs_are_set_beside_the_paper_and_seeds_are_one_row(tmp_path, published):
    runs = tmp_path / "runs"
    made_run(runs, "plain-1", 50, name="plain", seed=1)
    made_run(runs, "plain-2", 52, name="plain", seed=2)
    made_run(runs, "with-encoder", 60, network={"encoder": {"model": "/some/where/tiny"}})
    made_run(runs, "with-lexicon", 55, network={"lexicon": 9}, start="zh-fast")
    made_run(runs, "not-tested", 99, network={"width": 8}, test=False)
    made_run(runs, "ablation-tested", 99, network={"width": 10})
    (runs / "unfinished").mkdir()
    tables = published(runs)
    table = tables["test_results"]
    assert "Measured by `python benchmarks/results_table.py`." in table
    assert "99.00" not in table
    assert "/" not in table.replace("benchmarks/results_table.py", "")
    [paper, paper_with_bert, plain, lexicon, encoder] = cells(table, "RUN")
    assert paper[:7] == ["RUN, paper", "REWRITE", "–", "–", "–", "–", "53.8"]
    assert paper_with_bert[0] == "RUN + BERT, paper"
    trained_on = "rewrite: 17,000 examples; mine.jsonl: 3 examples"
    assert plain[:7] == ["RUN", "REWRITE", "plain-1, plain-2", trained_on, "1–2", "1, 2 (n = 2)", "51.00 ± 1.41"]
    assert (lexicon[0], lexicon[6]) == ("RUN + lexicon", "55.00")
    assert encoder[:7] == ["RUN + tiny", "REWRITE", "with-encoder", trained_on, "1", "1", "60.00"]
    assert len(plain) == len(paper) == 16
    assert len(cells(tables["test_results_short"], "RUN")) == 5


def test_a_part_that_was_learned_from_is_not_evaluated(tmp_path, published):
    runs = tmp_path / "runs"
    for name, em in (("plain", 50), ("ablation-narrow", 45)):
        made_run(runs, name, em, test=False, network={"width": em})
        stored = yaml.safe_load((runs / name / "settings.yaml").read_text())
        stored["data"]["corpus"] = ["rewrite", "rewrite:validation"]
        (runs / name / "settings.yaml").write_text(yaml.safe_dump(stored))
        evaluation = {"corpus": "rewrite", "part": "validation", "n": 5, "metrics": dict.fromkeys(METRICS, 99)}
        (runs / name / "evaluation-rewrite-validation.json").write_text(json.dumps(evaluation))
    assert cells(published(runs)["ablations"], "ablation-")[0][5] == "45.00 (-5.00)"


def test_ablations_and_improvements_are_set_beside_their_baselines(tmp_path, published):
    runs = tmp_path / "runs"
    made_run(runs, "plain", 50)
    made_run(runs, "wide", 55, network={"width": 128, "hidden": 10})
    made_run(runs, "ablation-no-cosine", 45, network={"similarities": ["elementwise"]}, test=False)
    made_run(runs, "improvement-baseline", 52, network={"width": 32}, test=False)
    made_run(runs, "improvement-match", 53.5, network={"width": 32, "doubling": True}, test=False)
    tables = published(runs)
    assert [row[:6] for row in cells(tables["ablations"], "plain")] == [
        ["plain", "rewrite:validation", "–", "1", "1", "50.00"]
    ]
    assert [row[2:6] for row in cells(tables["ablations"], "ablation-")] == [
        ["`network.similarities: [elementwise]`", "1", "1", "45.00 (-5.00)"]
    ]
    assert "wide" not in tables["ablations"]
    assert cells(tables["ablations"], "without U-shape, paper")[0][5:7] == ["–", "55.2 (-5.10)"]
    assert "no edit" not in tables["ablations"]
    copied = {"validation": "rewrite:validation", "metrics": dict.fromkeys(METRICS, 20)}
    (tmp_path / "no_edit.json").write_text(json.dumps(copied))
    assert cells(published(runs)["ablations"], "no edit")[0][5] == "20.00 (-30.00)"
    made_run(runs, "full", 56, epochs=99, network={"turns": True})
    made_run(runs, "improvement-full", 57, epochs=99, test=False)
    above, full = (
        row for start in ("full", "improvement-full") for row in cells(published(runs)["improvements"], start)
    )
    assert above[5] == "57.00"  # it too with thresholds
    assert (full[2], full[5]) == ("`network.turns: false`", "58.00 (+1.00)")
    baseline, match = cells(tables["improvements"], "improvement-")
    assert baseline[5] == "53.00"  # with thresholds, as models are used
    assert match[2] == "`network.doubling: true`"
    assert match[5] == "54.50 (+1.50)"


def test_a_run_called_after_another_is_set_beside_it(tmp_path, published):
    runs = tmp_path / "runs"
    made_run(runs, "plain", 50)
    made_run(runs, "plain-lean", 51, network={"width": 32})
    made_run(runs, "plain-lean-2", 53, name="plain-lean", seed=2, network={"width": 32})
    made_run(runs, "plain-lean-narrow", 49, network={"width": 8})
    made_run(runs, "plain-longer", 60, epochs=99)
    made_run(runs, "plain-onward", 47, start="zh-fast")
    made_run(runs, "plainer", 61, network={"width": 16})
    table = published(runs)["improvements"]
    assert [(row[0], row[5]) for row in cells(table, "plain")] == [
        ("plain", "51.00"),
        ("plain-lean", "53.00 ± 1.41 (+2.00)"),
        ("plain-onward", "48.00 (-3.00)"),
        ("plain-lean", "53.00 ± 1.41"),
        ("plain-lean-narrow", "50.00 (-3.00)"),
    ]
    assert "`start.model: zh-fast`" in cells(table, "plain-onward")[0][2]


def test_only_runs_that_went_on_from_the_same_model_are_compared(tmp_path, published):
    runs = tmp_path / "runs"
    made_run(runs, "improvement-baseline", 50)
    made_run(runs, "longer", 60, start="zh-fast")
    made_run(runs, "improvement-longer-wide", 61, start="zh-fast", network={"width": 96})
    made_run(runs, "improvement-alone", 62, start="en-fast")
    rows = cells(published(runs)["improvements"], "improvement-") + cells(published(runs)["improvements"], "longer")
    assert {row[0]: row[5] for row in rows} == {
        "longer": "61.00",
        "improvement-longer-wide": "62.00 (+1.00)",
        "improvement-alone": "63.00",
    }


def test_a_run_is_not_set_beside_one_with_the_same_settings(tmp_path, published):
    runs = tmp_path / "runs"
    made_run(runs, "plain", 50)
    made_run(runs, "narrow", 52, network={"width": 8})
    made_run(runs, "improvement-narrow-before", 53, network={"width": 8})
    table = published(runs)["improvements"]
    assert [row[5] for row in cells(table, "improvement-")] == ["54.00 (+3.00)"]
    assert not cells(table, "narrow")
