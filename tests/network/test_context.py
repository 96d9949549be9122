"""The parts of the context layer, each against the plain way of doing the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from network.made import LETTERS, LEXICON, batch_of, letters_dialogue  # noqa: E402
from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import ConnectionWords, lay_out  # noqa: E402
from urewrite.network.context import BiLSTM, TurnEmbedding, WordDropout  # noqa: E402
from urewrite.network.encoding import SimilarityMap  # noqa: E402
from urewrite.network.lexicon import TermVectors  # noqa: E402
from urewrite.prepare import Vocabulary  # noqa: E402
from urewrite.prepare.vocabulary import SPECIAL_IDS, UNKNOWN  # noqa: E402


def test_the_bilstm_is_that_of_packed_sequences():
    torch.manual_seed(0)
    made = BiLSTM(5, 4)
    lengths = torch.tensor([7, 1, 4])
    given = torch.randn(3, 9, 5)
    results = []
    for plain in (True, False):
        states = given.clone().requires_grad_()
        if plain:
            packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
            seen, _ = pad_packed_sequence(made.lstm(packed)[0], batch_first=True, total_length=9)
        else:
            seen = made(states, lengths)
        made.zero_grad()
        seen.square().sum().backward()
        results.append([seen, states.grad, *(parameter.grad.clone() for parameter in made.parameters())])
    for expected, found in zip(*results, strict=True):
        assert torch.allclose(expected, found, atol=1e-6)


@pytest.mark.parametrize("rows", [3, 8, 20])
def test_both_ways_to_the_element_wise_map_are_the_same(rows):
    """One is for training on short contexts, the other for all else."""
    torch.manual_seed(0)
    made = SimilarityMap(6, ["elementwise", "match"], 8)
    context, utterance, match = torch.randn(2, rows, 6), torch.randn(2, 4, 6), torch.zeros(2, rows, 4)
    assert torch.allclose(made.train()(context, utterance, match), made.eval()(context, utterance, match), atol=1e-6)


def test_a_word_is_dropped_wherever_it_stands_in_its_dialogue_and_nowhere_else():
    torch.manual_seed(0)
    ids = torch.tensor([[0, 2, 3, *range(4, 20), *range(4, 20)]] * 200)
    dropped = WordDropout(0.3).train()(ids, 20) == UNKNOWN
    assert not dropped[:, :3].any()
    assert torch.equal(dropped[:, 3:19], dropped[:, 19:])
    assert 0.25 < dropped[:, 3:].float().mean() < 0.35
    assert not torch.equal(dropped[0], dropped[1])
    assert torch.equal(WordDropout(0.3).eval()(ids, 20), ids)
    assert max(SPECIAL_IDS) == 3


def term_vectors(dropout=0.0):
    torch.manual_seed(0)
    made = TermVectors(len(LEXICON), 4, dropout)
    torch.nn.init.normal_(made.vectors[1:])
    return made


def test_a_character_is_known_by_the_vector_of_its_term_and_its_place():
    vocabulary = Vocabulary(["[PAD]", "[UNK]", "[S]", "[E]", *LETTERS], LEXICON)
    batch = batch_of(vocabulary, letters_dialogue(9, 5, 1), letters_dialogue(4, 3, 2))
    made = term_vectors()
    found = made(batch.terms)
    assert found.shape == (*batch.ids.shape, made.width)
    for told, vector in zip(batch.terms.flatten(0, 1).tolist(), found.flatten(0, 1), strict=True):
        assert torch.equal(vector, torch.cat([made.vectors[told[0]], made.places.weight[told[1]]]))
    assert not found[0, 13, :4].any(), "[E] is no term"
    assert not found[1, 7:, :4].any(), "padding is none"
    assert [name for name, found in made.named_parameters() if found.requires_grad] == ["places.weight"]


def test_a_term_is_dropped_wherever_it_stands_in_its_dialogue():
    terms = torch.arange(1, 101).repeat(200, 2)
    given = torch.stack([terms, torch.zeros_like(terms)], 2)
    made = term_vectors(0.3)
    dropped = (made.train()(given)[..., :4] == 0).all(2)
    assert torch.equal(dropped[:, :100], dropped[:, 100:])
    assert 0.25 < dropped.float().mean() < 0.35
    assert not torch.equal(dropped[0], dropped[1])
    assert not (made.eval()(given)[..., :4] == 0).all(2).any()


def test_words_are_told_apart_by_their_turn():
    made = TurnEmbedding(1)
    with torch.no_grad():
        made.weight[:, 0] = torch.arange(made.MOST)
    vocabulary = Vocabulary(["[PAD]", "[UNK]", "[S]", "[E]", *LETTERS])
    words = ConnectionWords(trailing=("z",))
    longer = lay_out(Dialogue.of(["a b", "c", "d", "e", "f", "g"], "h i"), words)
    shorter = lay_out(Dialogue.of(["a b", "c"], "h"), words)
    found = made(batch_of(vocabulary, longer, shorter))[..., 0].int().tolist()
    # An [S] goes with what follows it, and turns that are far away are one.
    assert found[0] == [5, 5, 5, 5, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0, 0]
    assert found[1][:8] == [3, 3, 2, 2, 1, 1, 0, 0]
