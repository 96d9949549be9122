"""The graph in ONNX Runtime: many batches side by side give what they give one after the other."""

from __future__ import annotations

import shutil
import threading

import numpy as np
import pytest

from urewrite.bundle import GRAPH
from urewrite.corpora import read_jsonl
from urewrite.pipeline import RunsSideBySide
from urewrite.prepare import collate
from urewrite.rewriter import load_pipeline
from urewrite.session import GraphRun


@pytest.fixture(scope="module")
def batches(toy_run, toy_bundle):
    """Of unlike sizes, so that none can be taken for another."""
    pipeline = load_pipeline(toy_bundle, threads=1)
    laid_out = [pipeline.lay_out(example.dialogue) for example in read_jsonl(toy_run.parent / "validation.jsonl")]
    sizes = (1, 7, 2, 5, 3, 6, 4, 1, 1, 8)
    starts = np.cumsum((0, *sizes))
    return [
        collate([pipeline.preparer.prepare(axes) for axes in laid_out[start : start + size]])
        for start, size in zip(starts, sizes, strict=False)
    ]


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_side_by_side_is_as_one_after_the_other(toy_bundle, batches, threads):
    run = GraphRun(toy_bundle / GRAPH, threads=threads)
    assert isinstance(run, RunsSideBySide)
    expected = [run(batch) for batch in batches]
    for amount in (0, 1, 2, len(batches)):
        found = list(run.each(iter(batches[:amount])))
        assert len(found) == amount
        for first, second in zip(expected, found, strict=False):
            assert np.abs(first - second).max() < 1e-5


def test_batches_are_made_while_others_run(toy_bundle, batches):
    """But not all of them at once, or a long file would fill the memory."""
    made = []

    def coming():
        for number, batch in enumerate(batches):
            made.append(number)
            yield batch

    results = GraphRun(toy_bundle / GRAPH, threads=2).each(coming())
    next(results)
    assert 2 <= len(made) <= 4


def test_a_batch_that_fails_is_not_passed_over(toy_bundle, batches):
    wrong = batches[3]._replace(ids=batches[3].ids.astype(np.float32))
    results = GraphRun(toy_bundle / GRAPH, threads=2).each([*batches[:3], wrong, *batches[4:]])
    for _ in range(3):
        next(results)
    with pytest.raises(Exception, match="data type"):
        next(results)


def test_threads_are_gone_when_nobody_asks_any_more(toy_bundle, batches):
    results = GraphRun(toy_bundle / GRAPH, threads=2).each(batches)
    next(results)
    results.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("urewrite-graph")]


def test_a_file_that_was_replaced_is_not_read_again(toy_bundle, batches, tmp_path):
    path = tmp_path / GRAPH
    shutil.copyfile(toy_bundle / GRAPH, path)
    run = GraphRun(path, threads=2)
    expected = [run(batch) for batch in batches]
    path.write_bytes(b"of another model")
    for first, second in zip(expected, run.each(batches), strict=True):
        assert np.array_equal(first, second)
