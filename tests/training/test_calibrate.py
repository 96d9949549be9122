from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from urewrite.training.calibrate import STEP, calibrate


@given(st.integers(STEP, 20 * STEP), st.integers(0, 2**32 - 1))
def test_the_table_rises_and_is_that_of_isotonic_regression(amount, seed):
    chance = np.random.default_rng(seed)
    certain = chance.normal(size=amount)
    right = chance.random(amount) < 1 / (1 + np.exp(-certain))
    table = calibrate(certain.tolist(), right.tolist())
    sure, share = zip(*table, strict=True)
    assert all(np.diff(sure) > 0)
    assert all(np.diff(share) > 0)
    chunks = np.array_split(np.argsort(certain, kind="stable"), amount // STEP)
    expected = isotonic_regression(
        [right[chunk].mean() for chunk in chunks], weights=[len(chunk) for chunk in chunks]
    ).x
    assert sorted(set(np.round(expected, 4))) == pytest.approx(share, abs=2e-4)


def test_few_examples_are_one_step():
    assert calibrate([-1.0, -3.0], [True, False]) == ((-2.0, 0.5),)
