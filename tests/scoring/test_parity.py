"""Every metric against the library or the definition published figures were made with."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu
from rouge import Rouge

from urewrite.scoring import bleu, restoration, rouge
from urewrite.scoring.triple import Triple, triples_of

BLEU_WEIGHTS = [(1,), (0.5, 0.5), (0.33, 0.33, 0.33), (0.25, 0.25, 0.25, 0.25)]

words = st.sampled_from(["a", "b", "c", "d", ".", "..", "u.s.", "3.5", "?"])
sentences = st.lists(words, min_size=1, max_size=12).map(tuple)
possibly_empty = st.lists(words, max_size=12).map(tuple)
corpora = st.lists(st.builds(Triple, sentences, sentences, possibly_empty), min_size=1, max_size=8)


def sums(module, triples):
    return np.array([module.statistics(triple) for triple in triples], dtype=float).sum(axis=0)


def noisy(triples, seed=13):
    """Predictions between utterance and reference, with words lost, doubled, swapped and foreign."""
    generator = random.Random(seed)
    changed = []
    for triple in triples:
        prediction = list(triple.reference if generator.random() < 0.7 else triple.utterance)
        for _ in range(generator.randrange(4)):
            at = generator.randrange(len(prediction) + 1)
            kind = generator.randrange(4)
            if kind == 0:
                del prediction[at : at + 1]
            elif kind == 1:
                prediction.insert(at, generator.choice(triple.utterance))
            elif kind == 2:
                prediction[at : at + 2] = reversed(prediction[at : at + 2])
            else:
                prediction.insert(at, generator.choice(["kobe", "的", ".", "?"]))
        changed.append(triple._replace(prediction=tuple(prediction)))
    return changed


@pytest.fixture(scope="module", params=["canard copy", "canard noisy", "rewrite copy", "rewrite noisy"])
def real(request, canard_copy, rewrite_examples):
    corpus, kind = request.param.split()
    if corpus == "canard":
        triples = canard_copy[:3000]
    else:
        triples = triples_of(rewrite_examples, [example.dialogue.utterance for example in rewrite_examples])
    return triples if kind == "copy" else noisy(triples)


def nltk_bleu(triples):
    references = [[list(triple.reference)] for triple in triples]
    predictions = [list(triple.prediction) for triple in triples]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk warns of orders without a match
        return [100 * corpus_bleu(references, predictions, weights=weights) for weights in BLEU_WEIGHTS]


def library_rouge(triple):
    try:
        scored = Rouge().get_scores(" ".join(triple.prediction), " ".join(triple.reference))[0]
    except ValueError:  # the library refuses texts without a sentence; this package counts them as 0
        return [0.0, 0.0, 0.0]
    return [scored[name]["f"] for name in ("rouge-1", "rouge-2", "rouge-l")]


def restoration_by_definition(triples):
    """Precision, recall and F for n = 1..3, written from the definition with nothing shared with the package."""
    results = []
    for n in (1, 2, 3):
        both = in_prediction = in_reference = 0
        for utterance, reference, prediction in triples:
            if all(word in utterance for word in reference):
                continue
            kept = []
            for text in (reference, prediction):
                grams = {text[i : i + n] for i in range(len(text)) if i + n <= len(text)}
                kept.append({gram for gram in grams if any(word not in utterance for word in gram)})
            both += sum(1 for gram in kept[1] if gram in kept[0])
            in_prediction += len(kept[1])
            in_reference += len(kept[0])
        precision = both / in_prediction if in_prediction else 0.0
        recall = both / in_reference if in_reference else 0.0
        f = 2 * precision * recall / (precision + recall) if both else 0.0
        results += [100 * precision, 100 * recall, 100 * f]
    return results


def test_bleu_on_real_pairs(real):
    assert bleu.from_sums(sums(bleu, real)) == pytest.approx(nltk_bleu(real), abs=1e-9)


def test_rouge_on_real_pairs(real):
    ours = np.array([rouge.statistics(triple)[1:] for triple in real])
    theirs = np.array([library_rouge(triple) for triple in real])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
    assert rouge.from_sums(sums(rouge, real)) == pytest.approx(100 * theirs.mean(axis=0), abs=1e-9)


def test_restoration_on_real_pairs(real):
    assert restoration.from_sums(sums(restoration, real)) == pytest.approx(restoration_by_definition(real), abs=1e-9)


@settings(deadline=None)
@given(corpora)
def test_bleu_on_generated_pairs(triples):
    assert bleu.from_sums(sums(bleu, triples)) == pytest.approx(nltk_bleu(triples), abs=1e-9)


@settings(deadline=None)
@given(st.builds(Triple, sentences, sentences, possibly_empty))
def test_rouge_on_generated_pairs(triple):
    assert rouge.statistics(triple)[1:] == pytest.approx(library_rouge(triple), abs=1e-11)


@settings(deadline=None)
@given(corpora)
def test_restoration_on_generated_pairs(triples):
    ours = restoration.from_sums(sums(restoration, triples))
    assert ours == pytest.approx(restoration_by_definition(triples), abs=1e-9)


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [("", "a b"), ("a", "a"), ("x", "a b c"), ("a", "a b c d"), ("a b c d e", "a"), ("a a a a", "a a"), (". .", ". .")],
)
def test_edges_of_bleu_and_rouge(prediction, reference):
    triple = Triple(("a",), tuple(reference.split()), tuple(prediction.split()))
    assert bleu.from_sums(sums(bleu, [triple])) == pytest.approx(nltk_bleu([triple]), abs=1e-9)
    assert rouge.statistics(triple)[1:] == pytest.approx(library_rouge(triple), abs=1e-11)


def test_rouge_survives_texts_longer_than_the_library_can_recurse():
    long = tuple(f"word{i}" for i in range(1500))
    assert rouge.statistics(Triple(long, long, long[:-1]))[3] == pytest.approx(2998 / 2999, abs=1e-6)


def test_sums_may_have_leading_axes():
    rows = np.array([bleu.statistics(Triple(("a",), ("a", "b"), ("a", "b"))) for _ in range(6)], dtype=float)
    assert bleu.from_sums(rows.reshape(2, 3, -1)).shape == (2, 3, 4)
