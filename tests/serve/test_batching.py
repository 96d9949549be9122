"""Who is computed with whom, with a model that only writes down what it is given."""

from __future__ import annotations

import asyncio
import threading

import pytest

from urewrite import Dialogue, Rewrite
from urewrite.serve.batching import MOST_CELLS, Batcher, Options, Size, TooManyWaitingError

HISTORY = ("one turn",)


class Recording:
    """Stands in for a rewriter: keeps every batch, and lets one go only when it may."""

    def __init__(self):
        self.batches = []
        self.may_go = threading.Event()
        self.may_go.set()

    def rewrite_batch(self, dialogues, **options):
        self.batches.append([dialogue.utterance for dialogue in dialogues])
        assert self.may_go.wait(60)
        if any(dialogue.utterance == "fail" for dialogue in dialogues):
            raise RuntimeError
        return [Rewrite(one.utterance.upper(), one.utterance, (), (), reason="rewritten") for one in dialogues]


def dialogues(*utterances, history=HISTORY):
    return [Dialogue.of(history, utterance) for utterance in utterances]


def played(scene, **limits):
    """Run a scene with a batcher and the model it asks; gives that model."""
    model = Recording()

    async def play():
        given = {"max_batch_size": 4, "wait_seconds": 0.01, "max_waiting": 100, "time_limit": 60, **limits}
        batcher = Batcher(model, **given)
        await batcher.start()
        try:
            await scene(batcher, model)
        finally:
            model.may_go.set()
            assert await batcher.close()

    asyncio.run(play())
    return model


async def texts(batcher, given, options=Options()):  # noqa: B008  (a tuple)
    return [one.rewrite.text for one in await batcher.rewrite(given, options)]


async def begun(model, batches):
    while len(model.batches) < batches:
        await asyncio.sleep(0.005)


def test_those_who_wait_run_together_and_get_their_own():
    async def scene(batcher, model):
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("a")))
        await begun(model, 1)
        others = [asyncio.ensure_future(texts(batcher, dialogues(name))) for name in "bcd"]
        await asyncio.sleep(0)
        model.may_go.set()
        assert await asyncio.gather(first, *others) == [["A"], ["B"], ["C"], ["D"]]

    assert played(scene).batches == [["a"], ["b", "c", "d"]]


def test_requests_take_turns():
    async def scene(batcher, model):
        model.may_go.clear()
        large = asyncio.ensure_future(texts(batcher, dialogues(*"abcdefghi")))
        await begun(model, 1)
        small = asyncio.ensure_future(texts(batcher, dialogues("1", "2")))
        await asyncio.sleep(0)
        model.may_go.set()
        assert await small == ["1", "2"]
        assert await large == list("ABCDEFGHI")

    assert played(scene).batches == [list("abcd"), ["e", "1", "f", "2"], list("ghi")]


def test_what_asks_otherwise_is_computed_apart():
    async def scene(batcher, model):
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("x")))
        await begun(model, 1)
        wishes = [Options(), Options(mode="always"), Options(), Options(threshold=0.5)]
        others = [
            asyncio.ensure_future(texts(batcher, dialogues(name), wish))
            for name, wish in zip("abcd", wishes, strict=True)
        ]
        await asyncio.sleep(0)
        model.may_go.set()
        assert await asyncio.gather(first, *others) == [["X"], ["A"], ["B"], ["C"], ["D"]]

    assert played(scene).batches == [["x"], ["a", "c"], ["b"], ["d"]]


def test_what_fails_gives_the_utterances_back_and_spoils_no_other():
    async def scene(batcher, model):
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("x")))
        await begun(model, 1)
        bad = asyncio.ensure_future(batcher.rewrite(dialogues("fail"), Options(mode="always")))
        good = asyncio.ensure_future(texts(batcher, dialogues("a")))
        await asyncio.sleep(0)
        model.may_go.set()
        assert await asyncio.gather(first, good) == [["X"], ["A"]]
        ((rewrite, _, _),) = await bad
        assert (rewrite.text, rewrite.reason) == ("fail", "error")
        assert [(piece.start, piece.end) for piece in rewrite.pieces] == [(0, 4)]
        assert await texts(batcher, dialogues("b")) == ["B"]

    played(scene)


def test_no_more_wait_than_may():
    async def scene(batcher, model):
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("x")))
        await begun(model, 1)
        second = asyncio.ensure_future(texts(batcher, dialogues("a", "b")))
        await asyncio.sleep(0)
        assert batcher.waiting == 2
        with pytest.raises(TooManyWaitingError) as caught:
            await batcher.rewrite(dialogues("c", "d"), Options())
        assert caught.value.retry_seconds >= 1
        model.may_go.set()
        assert await asyncio.gather(first, second) == [["X"], ["A", "B"]]
        assert batcher.waiting == 0

    played(scene, max_waiting=3)


def test_what_nobody_waits_for_is_not_computed():
    async def scene(batcher, model):
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("x")))
        await begun(model, 1)
        gone = asyncio.ensure_future(texts(batcher, dialogues(*"abcdefgh")))
        await asyncio.sleep(0)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert batcher.waiting == 0
        model.may_go.set()
        assert await first == ["X"]
        assert await texts(batcher, dialogues("y")) == ["Y"]

    assert played(scene).batches == [["x"], ["y"]]


def test_the_time_limit():
    async def scene(batcher, model):
        model.may_go.clear()
        with pytest.raises(asyncio.TimeoutError):
            await batcher.rewrite(dialogues("x"), Options())
        assert batcher.is_stuck
        model.may_go.set()
        assert await texts(batcher, dialogues("y")) == ["Y"]
        assert not batcher.is_stuck

    played(scene, time_limit=0.2)


def test_one_alone_does_not_wait_for_others():
    async def scene(batcher, model):
        for name in "abc":
            (done,) = await batcher.rewrite(dialogues(name), Options())
            assert done.waited < 5

    played(scene, wait_seconds=30)


def test_those_who_come_together_wait_for_one_another():
    async def scene(batcher, model):
        async def later(name, seconds):
            await asyncio.sleep(seconds)
            return await texts(batcher, dialogues(name))

        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, dialogues("x")))
        await begun(model, 1)
        together = [asyncio.ensure_future(later(name, 0)) for name in "ab"]
        await asyncio.sleep(0.01)
        model.may_go.set()
        await asyncio.gather(first, *together)
        assert await asyncio.gather(later("c", 0), later("d", 0.1)) == [["C"], ["D"]]

    assert played(scene, wait_seconds=30).batches == [["x"], ["a", "b"], ["c", "d"]]


def test_long_dialogues_have_a_lane_of_their_own():
    async def scene(batcher, model):
        long = dialogues("字" * 150, history=("字" * 300,))
        model.may_go.clear()
        first = asyncio.ensure_future(texts(batcher, long))
        await begun(model, 1)
        second = asyncio.ensure_future(texts(batcher, dialogues("a")))
        await begun(model, 2)  # although the first has not gone
        model.may_go.set()
        await asyncio.gather(first, second)

    played(scene)


def test_a_batch_is_no_larger_than_can_be_computed_soon():
    async def scene(batcher, model):
        given = dialogues(*(f"{number:03}" for number in range(64)), history=("字" * 280,))
        size = Size.of(given[0])
        assert not size.is_long
        await batcher.rewrite(given, Options())
        most = MOST_CELLS // (size.rows * size.columns)
        assert 1 < most < 64
        assert max(map(len, model.batches)) == most

    played(scene, max_batch_size=64)
