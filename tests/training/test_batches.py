from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import lay_out  # noqa: E402
from urewrite.prepare import Vocabulary  # noqa: E402
from urewrite.training.batches import OUTSIDE, BucketedBatches, Labelled, OrderedBatches, Share  # noqa: E402


def items(amount):
    axes = [lay_out(Dialogue.of(["a b c " * (n % 5 + 1)], "x y z " * (n % 3 + 1))) for n in range(amount)]
    vocabulary = Vocabulary.of(axes)
    return [Labelled(vocabulary.prepare(one), one.empty_grid()) for one in axes]


def bucketed(amount, size, seed=3, steps=0, share=None):
    return BucketedBatches(items(amount), size, seed=seed, steps=lambda: steps, share=lambda: share or Share())


def positions(batches):
    return [list(batch.positions) for batch in batches]


def test_batches_hold_every_example_once_in_an_order_of_their_own():
    batches = bucketed(50, 8)
    epochs = [batches.order(epoch) for epoch in (0, 1)]
    assert all(sorted(p for batch in epoch for p in batch) == list(range(50)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert bucketed(50, 8).order(0) == epochs[0]
    assert bucketed(50, 8, seed=4).order(0) != epochs[0]
    assert len(batches) == len(epochs[0]) == 7


def test_batches_are_tight_and_mark_what_is_outside():
    for batch in bucketed(50, 8):
        rows, columns = batch.labels.shape[1:]
        assert rows % 4 == columns % 4 == 0
        inside = (torch.arange(rows) < batch.inputs.heights.unsqueeze(1)).unsqueeze(2) & (
            torch.arange(columns) < batch.inputs.widths.unsqueeze(1)
        ).unsqueeze(1)
        assert torch.equal(batch.labels == OUTSIDE, ~inside)
        assert inside.any(2).any(0).sum() > rows - 4
        assert inside.any(1).any(0).sum() > columns - 4


def test_labels_lie_where_their_words_do():
    axes = lay_out(Dialogue.of(["a b"], "x y"))
    grid = axes.empty_grid()
    grid[1, 2] = 2
    other, *_ = items(1)
    batches = BucketedBatches([Labelled(Vocabulary.of([axes]).prepare(axes), grid), other], 2, seed=1, steps=lambda: 0)
    (batch,) = batches
    labels = batch.labels[batch.positions.index(0)]
    assert labels[1, 2] == 2
    assert labels[:2, :3].sum() == 2


@pytest.mark.parametrize("steps", [0, 1, 6, 7, 16])
def test_batches_follow_from_the_steps_taken(steps):
    batches = bucketed(50, 8, steps=steps)
    epoch, done = divmod(steps, 7)
    assert positions(batches) == batches.order(epoch)[done:]


@pytest.mark.parametrize("steps", [0, 9])
def test_two_processes_share_every_batch_between_them(steps):
    whole, left, right = (
        positions(bucketed(50, 8, steps=steps, share=share)) for share in (Share(), Share(0, 2), Share(1, 2))
    )
    assert len(left) == len(right) == len(whole)
    for one, other, both in zip(left, right, whole, strict=True):
        assert one
        assert other
        assert sorted(one + other) == sorted(both)


@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 5))
def test_every_process_takes_part_in_every_step(amount, size, processes):
    shares = [positions(bucketed(amount, size, share=Share(p, processes))) for p in range(processes)]
    whole = bucketed(amount, size).order(0)
    assert all(len(share) == len(whole) for share in shares)
    for step, batch in enumerate(whole):
        parts = [share[step] for share in shares]
        assert all(parts)
        assert {position for part in parts for position in part} == set(batch)
        assert sum(map(len, parts)) == max(len(batch), processes)


@given(st.integers(0, 20), st.integers(1, 6), st.integers(1, 5))
def test_ordered_batches_hold_every_example_once_over_all_processes(amount, size, processes):
    made = items(amount)
    taken, lengths = [], []
    for process in range(processes):
        batches = OrderedBatches(made, size, share=lambda process=process: Share(process, processes))
        share = positions(batches)
        assert len(batches) == len(share)
        lengths.append(len(share))
        assert all(0 < len(batch) <= size for batch in share)
        taken += [position for batch in share for position in batch]
    assert set(taken) == set(range(amount))
    assert len(set(lengths)) == 1  # none waits for another in vain
    assert len(taken) < amount + size * processes  # only the last batch is taken more than once
