from __future__ import annotations

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")
pytest.importorskip("safetensors", reason="not provided: safetensors, which the extra train brings")

from network.made import LETTERS, SMALL, batch_of, letters_dialogue, settled  # noqa: E402
from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import ConnectionWords, lay_out  # noqa: E402
from urewrite.errors import BadInputError, DataUnavailableError  # noqa: E402
from urewrite.prepare import Vocabulary  # noqa: E402
from urewrite.training.settings import TrainingSettings  # noqa: E402
from urewrite.training.weights import continued_model, load_model, new_model, save_model  # noqa: E402

AXES = [letters_dialogue(9, 5, 1), letters_dialogue(12, 7, 2)]
NONE = ConnectionWords()


def settings(name="first", start=None, **network):
    return TrainingSettings.model_validate(
        {"name": name, "data": {"corpus": "rewrite"}, "start": start or {}, "network": {**SMALL, **network}}
    )


def saved(folder, words=NONE, axes=AXES, **network):
    torch.manual_seed(0)
    model = new_model(settings(**network), words, axes, ("x: 2 examples",), lambda _: None)
    settled(model.network)
    save_model(folder, model)
    return model


def logits(model, axes=AXES):
    with torch.no_grad():
        return model.network.eval()(batch_of(model.preparer, *axes))


@pytest.fixture
def first(tmp_path):
    return saved(tmp_path / "first")


@pytest.fixture
def folder(first, tmp_path):
    return tmp_path / "first"


def test_a_saved_model_predicts_the_same(first, folder):
    loaded = load_model(folder)
    assert loaded.config == first.config
    assert not loaded.network.training
    assert torch.equal(logits(loaded), logits(first))
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors", "vocabulary.json"]


def test_weights_that_are_missing_or_do_not_fit_are_said(folder):
    weights = folder / "model.safetensors"
    for content in (b"", weights.read_bytes()[:-8]):
        weights.write_bytes(content)
        with pytest.raises(BadInputError, match=r"model\.safetensors"):
            load_model(folder)
    saved(folder.parent / "wider", width=16)
    shutil.copy(folder.parent / "wider" / "model.safetensors", weights)
    with pytest.raises(BadInputError, match=r"model\.safetensors"):
        load_model(folder)
    weights.unlink()
    with pytest.raises(DataUnavailableError, match=r"holds no model\.safetensors"):
        load_model(folder)


def test_a_continued_model_knows_more_words_and_predicts_the_same_for_those_it_knew(first, folder):
    more = lay_out(Dialogue.of(["quite new words"], "a new b"))
    continued = continued_model(folder, settings("second"), NONE, [more, *AXES], ("y: 1 example",))
    assert continued.config.name == "second"
    assert continued.config.trained_on == ("x: 2 examples", "y: 1 example")
    assert continued.network.training
    assert continued.preparer.words[: len(first.preparer)] == first.preparer.words
    assert set(continued.preparer.words) == {*first.preparer.words, *more.row_keys, *more.column_keys}
    assert torch.allclose(logits(continued), logits(first), atol=1e-6)
    assert not torch.allclose(logits(continued, [more]), logits(first, [more]), atol=1e-4)


def test_a_continued_model_can_be_saved_and_continued_again(first, folder, tmp_path):
    new = [lay_out(Dialogue.of(["quite new words"], "a new b"))]
    second = continued_model(folder, settings("second"), NONE, new, ())
    save_model(tmp_path / "second", second)
    third = continued_model(tmp_path / "second", settings("third"), NONE, new, ())
    assert third.preparer.words == second.preparer.words
    assert torch.equal(logits(third, [*AXES, *new]), logits(second, [*AXES, *new]))


def test_units_that_say_nothing_can_be_left_out(first, folder):
    """The weakest go first; without those that are silent the network is smaller and predicts the same."""
    hidden = SMALL["hidden"]
    silent = [0, hidden - 1]
    lstm, projection = first.network.context_layer.bilstm.lstm, first.network.encoding_layer.project_features
    with torch.no_grad():
        for number, direction in enumerate(("", "_reverse")):
            for unit in silent:
                getattr(lstm, f"bias_ih_l0{direction}")[3 * hidden + unit] = -1e4  # its gate lets nothing out
                getattr(lstm, f"weight_hh_l0{direction}")[:, unit] = 0
                projection[:, number * hidden + unit] = 0
    save_model(folder, first)
    smaller = continued_model(folder, settings("second", start={"model": "x", "hidden": hidden - 2}), NONE, AXES, ())
    assert smaller.config.network["hidden"] == hidden - 2
    assert smaller.network.context_layer.width == 2 * (hidden - 2)
    assert torch.allclose(logits(smaller), logits(first), atol=1e-5)
    save_model(folder.parent / "second", smaller)
    assert torch.equal(logits(load_model(folder.parent / "second")), logits(smaller))


@pytest.mark.parametrize(("hidden", "network", "said"), [(99, {}, "has only"), (2, {"bottleneck": None}, "bottleneck")])
def test_units_that_cannot_be_left_out(tmp_path, hidden, network, said):
    saved(tmp_path / "model", **network)
    with pytest.raises(BadInputError, match=rf"start\.hidden.*{said}"):
        continued_model(tmp_path / "model", settings("second", start={"model": "x", "hidden": hidden}), NONE, AXES, ())


@pytest.mark.parametrize("mix", [True, False])
@pytest.mark.parametrize("kind", ["bert", "roformer", "distilbert", "albert"])
def test_layers_of_an_encoder_can_be_left_out(tmp_path, kind, mix):
    """Where the mix listens to the first layer alone, the network is smaller and predicts the same."""
    pytest.importorskip("transformers", reason="not provided: transformers, which the extra train brings")
    from network.encoders import WORDS, encoder_folder

    (tmp_path / "encoder").mkdir()
    encoder = {"model": str(encoder_folder(kind, tmp_path / "encoder")), "layer_mix": mix}
    axes = [lay_out(Dialogue.of(["what abc", "北京 is x"], "is xyz"), WORDS)]
    model = saved(tmp_path / "model", WORDS, axes, encoder=encoder)
    if mix:
        with torch.no_grad():
            model.network.context_layer.mix[2] = -1e4
        save_model(tmp_path / "model", model)
    asked = settings("second", start={"model": "x", "layers": 1})
    smaller = continued_model(tmp_path / "model", asked, WORDS, axes, ())
    assert torch.allclose(logits(smaller, axes), logits(model, axes), atol=1e-5) == mix
    amounts = [sum(one.numel() for one in found.network.parameters()) for found in (smaller, model)]
    assert amounts[0] < amounts[1] or kind == "albert"
    assert (smaller.config.network["encoder"]["layers"], smaller.config.network["encoder"]["frozen_layers"]) == (1, 0)
    save_model(tmp_path / "second", smaller)
    assert torch.equal(logits(load_model(tmp_path / "second"), axes), logits(smaller, axes))
    with pytest.raises(BadInputError, match=r"start\.layers.*has only 2 layers"):
        continued_model(tmp_path / "model", settings("x", start={"model": "x", "layers": 3}), WORDS, axes, ())


def test_a_model_without_encoder_has_no_layers_to_keep(folder):
    with pytest.raises(BadInputError, match=r"start\.layers.*no encoder"):
        continued_model(folder, settings("second", start={"model": "x", "layers": 1}), NONE, AXES, ())


def test_all_above_the_context_layer_can_be_new(first, folder):
    new = {"width": 12, "bottleneck": None, "similarities": ["cosine", "match"], "dropout_out": 0.25}
    asked = settings("second", start={"model": "x", "only_context": True}, **new)
    continued = continued_model(folder, asked, NONE, AXES, ())
    told = {**first.config.network, **asked.network.model_dump(mode="json", include=set(new))}
    assert continued.config.network == told
    before, now = (one.network.state_dict() for one in (first, continued))
    for name, tensor in now.items():
        assert (name in before and torch.equal(tensor, before[name])) or not name.startswith("context_layer.")
    assert {name for name in now if name.startswith("segmentation_layer.")} <= before.keys()
    save_model(folder.parent / "second", continued)
    assert torch.equal(logits(load_model(folder.parent / "second")), logits(continued))


@pytest.mark.parametrize("place", ["{}", "~"])
def test_a_network_starts_from_word_vectors(home, place):
    lines = [f"{letter} {number} {-number} 0.5\n" for number, letter in enumerate(LETTERS)]
    (home / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    said = []
    asked = settings(start={"vectors": f"{place.format(home)}/vectors.txt"})
    model = new_model(asked, NONE, AXES, (), said.append)
    letters = len(Vocabulary.of(AXES)) - 4
    assert said == [f"{letters} of {letters + 4} words start from vectors.txt"]
    a = model.network.context_layer.embedding.weight[model.preparer.ids(["a"])[0]]
    assert a[0] == 0
    assert a[2] > 0


CHARACTERS = "北京上海天气很好"
CHINESE = [lay_out(Dialogue.of(["北京天气很好"], "上海呢")), lay_out(Dialogue.of(["上海"], "很好 really"))]


def lexical(folder, terms, hidden=8):
    """A model with a lexicon, and the vectors it started from."""
    vectors = {term: [number, -number, 0.5] for number, term in enumerate([*CHARACTERS, *terms], start=1)}
    lines = [f"{term} {' '.join(map(str, vector))}\n" for term, vector in vectors.items()]
    (folder / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    torch.manual_seed(0)
    asked = settings(start={"vectors": f"{folder}/vectors.txt"}, lexicon=len(vectors), hidden=hidden)
    model = new_model(asked, NONE, CHINESE, (), lambda _: None)
    settled(model.network)
    torch.nn.init.normal_(model.network.context_layer.terms.vectors[1:])
    save_model(folder / "model", model)
    return model, vectors


def test_a_model_with_a_lexicon_is_saved_and_gone_on_from(tmp_path):
    first, vectors = lexical(tmp_path, ["北京", "天气", "上海"])
    assert first.preparer.lexicon.terms == tuple(vectors)
    loaded = load_model(tmp_path / "model")
    assert torch.equal(logits(loaded, CHINESE), logits(first, CHINESE))
    new = [lay_out(Dialogue.of(["南京"], "北京呢"))]
    smaller = settings("second", start={"model": "x", "hidden": 4})
    second = continued_model(tmp_path / "model", smaller, NONE, new, ())
    save_model(tmp_path / "second", second)
    assert torch.equal(logits(load_model(tmp_path / "second"), CHINESE), logits(second, CHINESE))
    assert second.preparer.lexicon.terms == tuple(vectors)
    assert "南" in second.preparer.words
    first.network.context_layer.terms.vectors.data[first.preparer.lexicon.terms.index("北京") + 1] += 1
    changed = (logits(first, CHINESE) != logits(loaded, CHINESE)).flatten(1).any(1)
    assert changed.tolist() == [True, False], "a term concerns the dialogues that hold it"


def test_all_above_a_context_layer_with_a_lexicon_can_be_new(tmp_path):
    first, vectors = lexical(tmp_path, ["北京"])
    asked = settings("second", start={"model": "x", "only_context": True}, width=12)
    continued = continued_model(tmp_path / "model", asked, NONE, CHINESE, ())
    assert continued.config.network["lexicon"] == len(vectors)
    layers = [one.network.context_layer for one in (first, continued)]
    assert torch.equal(*(layer.terms.vectors for layer in layers))


def test_models_with_different_lexicons_have_no_mean(tmp_path):
    for name, terms in (("one", ["北京", "天气"]), ("other", ["天气", "北京"])):
        (tmp_path / name).mkdir()
        lexical(tmp_path / name, terms)
    start = {"model": "x", "averaged_with": [str(tmp_path / "other" / "model")]}
    with pytest.raises(BadInputError, match=r"start\.averaged_with.*another lexicon"):
        continued_model(tmp_path / "one" / "model", settings("second", start=start), NONE, CHINESE, ())
    same = {"model": "x", "averaged_with": [str(tmp_path / "one" / "model")]}
    mean = continued_model(tmp_path / "one" / "model", settings("second", start=same), NONE, CHINESE, ())
    loaded = load_model(tmp_path / "one" / "model")
    assert torch.equal(*(one.network.context_layer.terms.vectors for one in (mean, loaded)))


def test_rare_terms_can_be_left_out(tmp_path):
    """Without those that no dialogue holds, the network is smaller and predicts the same.

    As far as runs are divided alike, that is: the fewer terms, the less each costs.
    """
    first, vectors = lexical(tmp_path, ["北京", "天气", "上海", "别的", "没有"])
    fewer = len(vectors) - 2
    asked = settings("second", start={"model": "x", "lexicon": fewer})
    smaller = continued_model(tmp_path / "model", asked, NONE, CHINESE, ())
    assert smaller.config.network["lexicon"] == fewer
    assert smaller.preparer.lexicon.terms == tuple(vectors)[:fewer]
    assert smaller.network.context_layer.terms.vectors.shape[0] == 1 + fewer
    assert torch.equal(logits(smaller, CHINESE), logits(first, CHINESE))
    save_model(tmp_path / "second", smaller)
    assert torch.equal(logits(load_model(tmp_path / "second"), CHINESE), logits(smaller, CHINESE))
    for folder, said in (("second", f"only {fewer} terms"), ("none", "no lexicon")):
        if folder == "none":
            saved(tmp_path / folder)
        with pytest.raises(BadInputError, match=rf"start\.lexicon.*{said}"):
            continued_model(
                tmp_path / folder, settings("x", start={"model": "x", "lexicon": fewer + 1}), NONE, CHINESE, ()
            )


def test_a_lexicon_that_is_not_there_or_another_is_said(tmp_path):
    lexical(tmp_path, ["北京"])
    lexicon = tmp_path / "model" / "lexicon.txt"
    lexicon.write_text(lexicon.read_text(encoding="utf-8") + "多\n", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"lexicon\.txt.*10 terms.*9"):
        load_model(tmp_path / "model")
    lexicon.unlink()
    with pytest.raises(DataUnavailableError, match=r"holds no lexicon\.txt"):
        load_model(tmp_path / "model")


def test_the_optimiser_takes_parameters_in_the_order_of_the_network(tmp_path):
    """Its state is saved by number, so another order in a resumed run would mix it up."""
    for needed in ("transformers", "lightning"):
        pytest.importorskip(needed, reason=f"not provided: {needed}, which the extra train brings")
    from network.encoders import WORDS, encoder_folder
    from urewrite.training.module import HeldOut, RewritingModule
    from urewrite.training.settings import OptimiserSettings

    asked = settings(encoder={"model": str(encoder_folder("bert", tmp_path))})
    network = new_model(asked, WORDS, (), (), lambda _: None).network
    module = RewritingModule(network, OptimiserSettings(schedule="none"), 1, HeldOut([], []))
    numbers = {parameter: number for number, parameter in enumerate(module.parameters())}
    groups = module.configure_optimizers().param_groups
    assert [group["lr"] for group in groups] == [2e-3, 1e-4]
    for group in groups:
        order = [numbers[parameter] for parameter in group["params"]]
        assert order == sorted(order)
    assert sum(len(group["params"]) for group in groups) == len(numbers)


@pytest.mark.parametrize("form", [{}, {"layers": 1, "layer_mix": False}, {"lstm": True, "frozen_layers": 1}])
@pytest.mark.parametrize("kind", ["bert", "roformer", "mpnet", "electra", "distilbert", "roberta", "albert"])
def test_a_model_with_an_encoder_needs_only_its_own_folder(tmp_path, kind, form):
    pytest.importorskip("transformers", reason="not provided: transformers, which the extra train brings")
    from network.encoders import SHARING, WORDS, encoder_folder

    if kind == SHARING:
        form = {**form, "frozen_layers": 0}
    (tmp_path / "encoder").mkdir()
    encoder = {"model": str(encoder_folder(kind, tmp_path / "encoder")), **form}
    axes = [lay_out(Dialogue.of(["what abc", "北京 is x"], "is xyz"), WORDS), lay_out(Dialogue.of([], "it"), WORDS)]
    model = saved(tmp_path / "model", WORDS, axes, encoder=encoder)
    expected = logits(model, axes)
    trained = {name for name, p in model.network.named_parameters() if p.requires_grad}
    shutil.rmtree(tmp_path / "encoder")
    loaded = load_model(tmp_path / "model")
    assert loaded.config == model.config
    assert torch.allclose(logits(loaded, axes), expected, atol=1e-6)
    continued = continued_model(tmp_path / "model", settings("second", encoder=encoder), WORDS, axes, ("y: 1 example",))
    assert continued.network.training
    assert torch.allclose(logits(continued, axes), expected, atol=1e-6)
    assert {name for name, p in continued.network.named_parameters() if p.requires_grad} == trained


def test_a_model_can_go_on_with_other_connection_words(tmp_path, first, folder):
    """Those it had keep what it knows of them, wherever they stand in the new list."""
    pytest.importorskip("transformers", reason="not provided: transformers, which the extra train brings")
    from network.encoders import encoder_folder

    (tmp_path / "encoder").mkdir()
    encoder = {"model": str(encoder_folder("bert", tmp_path / "encoder"))}
    before, now = ConnectionWords(("of", "in"), ("'s",)), ConnectionWords(("the", "in"), ("of", "'s"))
    known = saved(tmp_path / "model", before, AXES, encoder=encoder).network.context_layer.connection.weight
    continued = continued_model(tmp_path / "model", settings("second", encoder=encoder), now, AXES, ())
    assert continued.config.connection_words == now
    found = continued.network.context_layer.connection.weight
    for row, expected in enumerate((None, None, known[2], None, known[3])):
        assert torch.equal(found[row], torch.zeros_like(found[0]) if expected is None else expected)
    save_model(tmp_path / "second", continued)
    assert load_model(tmp_path / "second").config.connection_words == now
    worded = continued_model(folder, settings("second"), now, AXES, ())
    assert worded.config.connection_words == now
    assert torch.allclose(logits(worded), logits(first), atol=1e-6)


@pytest.mark.parametrize(
    ("found", "field", "said"),
    [
        ({}, "encoder.model_type", "such as 'bert'"),
        ({"model_type": "of nobody"}, "encoder.model_type", "such as 'bert'"),
        ({"model_type": None}, "encoder.model_type", "such as 'bert'"),
        ({"model_type": ["bert"]}, "encoder.model_type", "such as 'bert'"),
        ({"model_type": "bert", "hidden_size": "x"}, "encoder", "no configuration of a bert encoder"),
        ({"model_type": "bert", "hidden_size": 7}, "encoder", "no configuration of a bert encoder"),
    ],
)
def test_an_encoder_of_no_known_kind_is_said(tmp_path, found, field, said):
    pytest.importorskip("transformers", reason="not provided: transformers, which the extra train brings")
    from network.encoders import WORDS, encoder_folder

    (tmp_path / "encoder").mkdir()
    saved(tmp_path / "model", WORDS, encoder={"model": str(encoder_folder("bert", tmp_path / "encoder"))})
    path = tmp_path / "model" / "config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["encoder"]["model_type"]
    document["encoder"] |= found
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BadInputError, match=said) as caught:
        load_model(tmp_path / "model")
    assert caught.value.file == str(path)
    assert caught.value.field == field
