from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")
transformers = pytest.importorskip("transformers", reason="not provided: transformers, which the extra train brings")

from safetensors.torch import load_file, save_file  # noqa: E402

from network.encoders import KINDS, SHARING, WORDS, encoder_folder, spelled  # noqa: E402
from network.made import SMALL, batch_of, padded_to, settled, training_step  # noqa: E402
from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import lay_out  # noqa: E402
from urewrite.errors import BadInputError, DataUnavailableError  # noqa: E402
from urewrite.network.context import pool  # noqa: E402
from urewrite.network.pretrained import encoder_network, load_encoder, load_pieces  # noqa: E402
from urewrite.network.settings import EncoderSettings, NetworkSettings  # noqa: E402

ONE = lay_out(Dialogue.of(["what abc", "北京 is x"], "is xyz ?"), WORDS)
OTHERS = [
    lay_out(Dialogue.of(["abcdef what is 北京天气 " * 2, "xyz"], "what is zyx abc 天"), WORDS),
    lay_out(Dialogue.of([], "天"), WORDS),
]
FORMS = [{}, {"layer_mix": False}, {"lstm": True}, {"layer_mix": False, "lstm": True}]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {kind: encoder_folder(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}


@pytest.fixture(params=KINDS)
def folder(request, folders):
    return folders[request.param]


@pytest.fixture
def bert(folders):
    return folders["bert"]


def network(folder, **form):
    torch.manual_seed(0)
    asked = EncoderSettings(model=str(folder), **form)
    settings = NetworkSettings.model_validate(
        {**SMALL, "encoder": asked.model_dump(), "dropout_in": 0, "dropout_out": 0}
    )
    return settled(encoder_network(settings, load_encoder(asked), WORDS)), load_pieces(asked)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_come_from_the_folder(folders, kind):
    pieces, known = load_pieces(EncoderSettings(model=str(folders[kind]))), spelled(kind)
    prepared = pieces.prepare(lay_out(Dialogue.of(["What abc", "北京"], "is")))
    words = ["start", "what", "abc", "end", "北", "京", "end", "is", "end"]
    owners = [-1, 0, 1, 2, 3, 4, -1, 5, 6]
    expected = [(owner, piece) for owner, word in zip(owners, words, strict=True) for piece in known[word]]
    found = map(pieces.tokenizer.id_to_token, prepared.ids.tolist())
    assert list(zip(prepared.owners.tolist(), found, strict=True)) == expected


def test_words_are_the_mean_of_their_pieces():
    states = torch.randn(3, 9, 5, generator=torch.Generator().manual_seed(1))
    owners = torch.tensor(
        [[-1, 0, 0, 0, 2, -1, 3, 4, 4], [-1, 1, 2, -1, 3, 3, -2, -2, -2], [-1, -1, 5, -2, -2, -2, -2, -2, -2]]
    )
    pooled = pool(states, owners, 6)
    for example in range(3):
        for word in range(6):
            own = [states[example, piece] for piece in range(9) if owners[example, piece] == word]
            expected = sum(own) / len(own) if own else torch.zeros(5)
            assert torch.allclose(pooled[example, word], expected, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_prediction_is_the_same_alone_in_a_batch_and_under_any_padding(folder, form):
    made, pieces = network(folder, **form)
    made.eval()
    rows, columns = ONE.shape
    with torch.no_grad():
        alone = made(batch_of(pieces, ONE))[0, :, :rows, :columns]
        together = made(batch_of(pieces, OTHERS[0], ONE, OTHERS[1]))[1, :, :rows, :columns]
        padded = made(padded_to(batch_of(pieces, ONE), 32, 20, more=7))[0, :, :rows, :columns]
    assert alone.std() > 1e-3
    assert torch.allclose(alone, together, atol=1e-5)
    assert torch.allclose(alone, padded, atol=1e-5)


@pytest.mark.parametrize("form", [{}, {"layer_mix": False, "lstm": True}])
def test_training_does_not_see_padding(folder, form):
    """The same batch with more padding: same loss, same gradients, same running statistics."""
    results = []
    for more in (0, 5):
        made, pieces = network(folder, **form)
        made.train().context_layer.encoder.eval()  # without its dropout, which is drawn for padding too
        given = batch_of(pieces, ONE, *OTHERS)
        results.append(training_step(made, padded_to(given, 32 + 4 * more, 12 + 4 * more, more=more)))
    for expected, found in zip(*results, strict=True):
        assert expected.keys() == found.keys()
        assert all(torch.allclose(expected[name], found[name], rtol=0, atol=1e-9) for name in expected)


def test_every_piece_and_its_place_count(folder):
    """Other words, or the same in another order, give another grid."""
    made, pieces = network(folder)
    made.eval()
    grids = []
    for first, second in (("abc", "xyz"), ("xyz", "abc"), ("abc", "xyb")):
        axes = lay_out(Dialogue.of([f"what is {first} ?"], f"is it {second}"), WORDS)
        with torch.no_grad():
            grids.append(made(batch_of(pieces, axes)))
    assert not torch.allclose(grids[0], grids[1], atol=1e-4)
    assert not torch.allclose(grids[0], grids[2], atol=1e-4)


def test_connection_words_are_told_apart_by_their_place(bert):
    made, pieces = network(bert)
    layer = made.context_layer.eval()
    with torch.no_grad():
        states = layer(batch_of(pieces, OTHERS[0], ONE))[1]
    leading, height = len(WORDS.leading), ONE.shape[0]
    trailing = height - len(WORDS.trailing)
    learned = layer.connection.weight[1:]
    assert torch.allclose(states[:leading], learned[:leading])
    assert torch.allclose(states[trailing:height], learned[leading:])
    assert not states[trailing - 1].allclose(states[trailing])


@pytest.mark.parametrize("form", FORMS)
def test_every_trainable_parameter_learns(folder, form):
    made, pieces = network(folder, **form)
    made.train()(batch_of(pieces, ONE, *OTHERS)).square().mean().backward()
    trainable = {name: p.grad for name, p in made.named_parameters() if p.requires_grad}
    assert [name for name, gradient in trainable.items() if gradient is None] == []
    # A bias of the keys moves all attention weights alike, so softmax takes its gradient away.
    keys = ("key.bias", "attn.k.bias", "k_lin.bias")
    assert [name for name, gradient in trainable.items() if not name.endswith(keys) and not gradient.any()] == []


def test_an_encoder_may_compute_in_16_bits_for_a_while(folder):
    made, pieces = network(folder)
    given, layer = batch_of(pieces, ONE, *OTHERS), made.eval().context_layer
    exact = layer(given)
    with made.computing_in(torch.float32):
        assert torch.equal(layer(given), exact)
    with made.computing_in(torch.bfloat16):
        halved = layer(given)
    assert torch.equal(layer(given), exact)
    assert halved.dtype == torch.float32
    assert not torch.equal(halved, exact)
    assert torch.allclose(halved, exact, atol=0.1)
    halved.square().mean().backward()
    gradients = [p.grad for p in layer.encoder.parameters() if p.requires_grad]
    assert all(gradient.dtype == torch.float32 and torch.isfinite(gradient).all() for gradient in gradients)


def test_the_longest_input_fits_the_encoder(folder):
    made, pieces = network(folder)
    axes = lay_out(Dialogue.of(["what is abc " * 40], "is xyz"), WORDS)
    batch = batch_of(pieces, axes)
    assert batch.ids.shape[1] == pieces.longest
    with torch.no_grad():
        assert torch.isfinite(made.eval()(batch)).all()


def test_layers_are_cut_from_the_end(folder):
    whole = load_encoder(EncoderSettings(model=str(folder))).eval()
    cut = load_encoder(EncoderSettings(model=str(folder), layers=1)).eval()
    ids = torch.tensor([[2, 7, 9, 8, 3]])
    with torch.no_grad():
        middle = whole(input_ids=ids, output_hidden_states=True).hidden_states[1]
        assert torch.allclose(cut(input_ids=ids).last_hidden_state, middle, atol=1e-6)
    assert cut.config.num_hidden_layers == 1
    assert len(network(folder, layers=1)[0].context_layer.mix) == 2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != SHARING])
def test_frozen_layers_do_not_learn(folders, kind):
    made, pieces = network(folders[kind], frozen_layers=1)
    made.train()(batch_of(pieces, ONE, *OTHERS)).square().mean().backward()
    learned = {name for name, p in made.context_layer.encoder.named_parameters() if p.grad is not None}
    assert not [name for name in learned if name.startswith("embeddings") or ".layer.0." in name]
    assert [name for name in learned if ".layer.1." in name]
    assert all(p.grad is None for p in made.parameters() if not p.requires_grad)


@pytest.mark.parametrize(
    ("kind", "form", "key", "said"),
    [
        ("bert", {"layers": 3}, "layers", "at most the 2 layers"),
        ("albert", {"layers": 3}, "layers", "at most the 2 layers"),
        ("bert", {"frozen_layers": 3}, "frozen_layers", "at most the 2 layers"),
        ("bert", {"layers": 1, "frozen_layers": 2}, "frozen_layers", "at most the 1 layers"),
        ("albert", {"frozen_layers": 1}, "frozen_layers", "share their weights"),
    ],
)
def test_layers_that_are_not_there_are_said(folders, kind, form, key, said):
    with pytest.raises(BadInputError, match=said) as caught:
        load_encoder(EncoderSettings(model=str(folders[kind]), **form))
    assert caught.value.field == f"network.encoder.{key}"


@pytest.mark.parametrize("kind", [{"num_hidden_groups": 2}, {"inner_group_num": 2}])
def test_an_albert_of_several_layers_is_refused(tmp_path, kind):
    sizes = {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 2, "intermediate_size": 8}
    config = transformers.AlbertConfig(vocab_size=9, embedding_size=4, **sizes, **kind)
    transformers.AlbertModel(config).save_pretrained(tmp_path)
    with pytest.raises(DataUnavailableError, match="ALBERT"):
        load_encoder(EncoderSettings(model=str(tmp_path)))


def test_what_is_no_encoder_is_said(tmp_path):
    config = transformers.GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1)
    transformers.GPT2Model(config).save_pretrained(tmp_path)
    with pytest.raises(DataUnavailableError, match="of the kind gpt2"):
        load_encoder(EncoderSettings(model=str(tmp_path)))


def test_a_pooler_that_cannot_be_left_out_is_not_trained(tmp_path):
    """It would get no gradient, for which several processes would wait in vain."""
    sizes = {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 1, "intermediate_size": 8}
    transformers.ErnieModel(transformers.ErnieConfig(vocab_size=9, **sizes)).save_pretrained(tmp_path)
    asked = EncoderSettings(model=str(tmp_path))
    made = encoder_network(NetworkSettings(encoder=asked), load_encoder(asked), WORDS)
    frozen = {name.split(".")[0] for name, p in made.context_layer.encoder.named_parameters() if not p.requires_grad}
    assert frozen == {"pooler"}


@pytest.mark.parametrize("load", [load_encoder, load_pieces])
def test_an_encoder_may_lie_in_the_home_folder(home, load):
    (home / "tiny").mkdir()
    encoder_folder("bert", home / "tiny")
    assert load(EncoderSettings(model="~/tiny"))


@pytest.mark.parametrize("load", [load_encoder, load_pieces])
def test_a_missing_folder_is_named(tmp_path, load):
    with pytest.raises(DataUnavailableError, match=str(tmp_path / "missing")):
        load(EncoderSettings(model=str(tmp_path / "missing")))
    with pytest.raises(DataUnavailableError, match=str(tmp_path)):
        load(EncoderSettings(model=str(tmp_path)))


def test_damaged_weights_are_an_error_that_names_the_folder(tmp_path):
    folder = encoder_folder("bert", tmp_path)
    (folder / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(DataUnavailableError, match=str(folder)):
        load_encoder(EncoderSettings(model=str(folder)))


def test_weights_of_something_else_are_not_replaced_by_random_ones(tmp_path):
    folder = encoder_folder("bert", tmp_path)
    weights = {f"other.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataUnavailableError, match=str(folder)):
        load_encoder(EncoderSettings(model=str(folder)))


def test_a_folder_without_tokenizer_is_an_error_that_names_it(tmp_path):
    folder = encoder_folder("bert", tmp_path)
    for path in (*folder.glob("tokenizer*"), folder / "vocab.txt"):
        path.unlink()
    with pytest.raises(DataUnavailableError, match=str(folder)):
        load_pieces(EncoderSettings(model=str(folder)))
