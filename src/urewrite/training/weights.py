"""Networks and what feeds them: at the start of a training, and from a model folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from urewrite import bundle
from urewrite.bundle import ModelConfig, PieceInput, read_config, read_preparer, write_model
from urewrite.edits.grid import Axes, ConnectionWords
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import local_weights, replacing
from urewrite.network.context import EncoderContext, WordContext
from urewrite.network.run import RUN, word_network
from urewrite.network.settings import ABOVE_CONTEXT, NetworkSettings
from urewrite.prepare import Preparer, Vocabulary, WordPieces
from urewrite.pretrained import to_learn_from
from urewrite.training.prune import with_fewer_units
from urewrite.training.settings import TrainingSettings, asked_for_by
from urewrite.training.vectors import lexicon_from_vectors, start_from_vectors

_CONTEXT = "context_layer."
_EMBEDDING = "context_layer.embedding.weight"
_CONNECTION = "context_layer.connection.weight"
_TERMS = "context_layer.terms.vectors"


@dataclass(frozen=True, slots=True)
class Model:
    """A network with everything that belongs to it."""

    config: ModelConfig
    preparer: Preparer
    network: RUN


def new_model(
    settings: TrainingSettings,
    words: ConnectionWords,
    axes: Iterable[Axes],
    trained_on: tuple[str, ...],
    notify: Callable[[str], None],
) -> Model:
    """A network before its training: from a pretrained encoder, from word vectors, or from nothing."""
    preparer: Preparer
    pieces = encoder = None
    if settings.network.encoder is None:
        preparer = Vocabulary.of(axes, settings.data.least_count)
        network = word_network(settings.network, len(preparer))
        if settings.start.vectors is not None:
            with asked_for_by("start.vectors"):
                preparer = _started_from_vectors(network, preparer, settings.start.vectors, notify)
    else:
        from urewrite.network.pretrained import described, encoder_network, load_encoder, load_pieces

        with asked_for_by("network.encoder.model"):
            loaded = load_encoder(settings.network.encoder)
            preparer = load_pieces(settings.network.encoder)
        network = encoder_network(settings.network, loaded, words)
        pieces = PieceInput(preparer.start, preparer.separator, preparer.longest)
        encoder = described(loaded)
    config = ModelConfig(
        name=settings.name,
        connection_words=words,
        most_rows=settings.data.most_rows,
        network=settings.network.model_dump(mode="json"),
        pieces=pieces,
        encoder=encoder,
        trained_on=trained_on,
    )
    return Model(config, preparer, network)


def _started_from_vectors(network: RUN, vocabulary: Vocabulary, name: str, notify: Callable[[str], None]) -> Vocabulary:
    """Give a new network what vectors know of its words, and of the terms of its lexicon, which the vocabulary gets."""
    layer, source = network.context_layer, local_weights(name)
    assert isinstance(layer, WordContext)
    known = start_from_vectors(layer.embedding, vocabulary, source)
    notify(f"{known:,} of {len(vocabulary):,} words start from {Path(name).name}")
    if layer.terms is None:
        return vocabulary
    amount, width = layer.terms.vectors.shape
    lexicon, vectors = lexicon_from_vectors(source, amount - 1, width)
    layer.terms.vectors.data.copy_(vectors)
    return Vocabulary(vocabulary.words, lexicon)


def load_model(folder: Path) -> Model:
    """The network of a model folder with its weights, ready to predict."""
    config = read_config(folder)
    preparer = read_preparer(folder, config)
    try:
        network = _empty_network(config, preparer)
    except BadInputError as error:
        raise error.at(file=folder / bundle.CONFIG) from error
    path = folder / bundle.WEIGHTS
    if not path.is_file():
        raise DataUnavailableError(f"{folder} holds no {bundle.WEIGHTS}")
    try:
        weights = load_file(path)
        missing = network.state_dict().keys() - weights.keys()
        if missing and (folder / bundle.GRAPH).is_file():
            from urewrite.training.graph_weights import read_weights

            weights |= read_weights(folder / bundle.GRAPH, missing)
        network.load_state_dict(weights)
    except (SafetensorError, RuntimeError) as error:
        raise BadInputError(f"does not fit the network of {bundle.CONFIG}: {error}", file=path) from error
    return Model(config, preparer, network.eval())


def network_to_go_on_with(folder: Path, settings: TrainingSettings) -> NetworkSettings:
    """The network of a trained model: with as much of it as is to be kept, and what is to be new."""
    try:
        network, start = network_of(read_config(folder)), settings.start
    except BadInputError as error:
        raise error.at(file=folder / bundle.CONFIG) from error
    other: dict[str, object] = {}
    if start.hidden is not None:
        other["hidden"] = start.hidden
    if start.layers is not None:
        if network.encoder is None:
            raise BadInputError("the model has no encoder", field="start.layers")
        other["encoder"] = network.encoder.model_copy(update={"layers": start.layers, "frozen_layers": 0})
    if start.lexicon is not None:
        if network.lexicon is None:
            raise BadInputError("the model has no lexicon", field="start.lexicon")
        if network.lexicon < start.lexicon:
            raise BadInputError(f"the model has only {network.lexicon} terms", field="start.lexicon")
        other["lexicon"] = start.lexicon
    if start.only_context:
        other |= {name: getattr(settings.network, name) for name in ABOVE_CONTEXT}
    return network.model_copy(update=other)


def continued_model(
    folder: Path,
    settings: TrainingSettings,
    words: ConnectionWords,
    axes: Iterable[Axes],
    trained_on: tuple[str, ...],
) -> Model:
    """A trained model to go on from, with these connection words.

    Words it does not know get a random start, connection words nothing of their own yet; units, layers and terms too
    many are left out, and so is all above the context layer where that is to be new.
    """
    network_settings = network_to_go_on_with(folder, settings)
    model, start = load_model(folder), settings.start
    others = [_beside(model, name) for name in start.averaged_with]
    trained = dict.fromkeys(line for one in (model, *others) for line in one.config.trained_on)
    weights, encoder = _mean([_by_words_of(model, one) for one in (model, *others)]), model.config.encoder
    if start.hidden is not None:
        weights = with_fewer_units(weights, start.hidden)
    if start.layers is not None:
        weights, encoder = _with_fewer_layers(model.network, weights, start.layers)
    config = replace(
        model.config,
        name=settings.name,
        connection_words=words,
        network=network_settings.model_dump(mode="json"),
        encoder=encoder,
        most_rows=settings.data.most_rows,
        trained_on=tuple(dict.fromkeys((*trained, *trained_on))),
    )
    preparer = model.preparer
    if isinstance(preparer, Vocabulary):
        preparer = preparer.extended(Vocabulary.of(axes, settings.data.least_count).words)
        if start.lexicon is not None and preparer.lexicon is not None:
            preparer = Vocabulary(preparer.words, preparer.lexicon.first(start.lexicon))
            weights[_TERMS] = weights[_TERMS][: 1 + start.lexicon].clone()
    network = _empty_network(config, preparer)
    if isinstance(preparer, Vocabulary):
        known = weights[_EMBEDDING]
        embedding = torch.randn(len(preparer), known.shape[1]) * known[1:].std()
        embedding[: len(known)] = known
        weights[_EMBEDDING] = embedding
    else:
        weights[_CONNECTION] = _for_other_words(weights[_CONNECTION], model.config.connection_words, words)
    if start.only_context:
        kept = {name: tensor for name, tensor in weights.items() if name.startswith(_CONTEXT)}
        new = {name: tensor for name, tensor in network.state_dict().items() if not name.startswith(_CONTEXT)}
        weights = kept | new
    network.load_state_dict(weights)
    return Model(config, preparer, network.train())


def _with_fewer_layers(
    network: RUN, weights: Mapping[str, Tensor], layers: int
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """These weights for the first layers of the encoder alone, and what the model folder keeps of it."""
    from urewrite.network.pretrained import with_fewer_layers

    assert isinstance(network.context_layer, EncoderContext)
    network.load_state_dict(weights)
    encoder = with_fewer_layers(network.context_layer, layers)
    return network.state_dict(), encoder


def _beside(model: Model, name: str) -> Model:
    """Another model, whose every weight means the same as in this one."""
    with asked_for_by("start.averaged_with"):
        other = load_model(to_learn_from(name))
    compared: dict[str, Callable[[Model], object]] = {
        "another network": lambda one: (network_of(one.config), one.config.encoder),
        "other word pieces": lambda one: isinstance(one.preparer, WordPieces) and one.preparer.tokenizer.get_vocab(),
        "another lexicon": lambda one: (
            isinstance(one.preparer, Vocabulary) and one.preparer.lexicon is not None and one.preparer.lexicon.terms
        ),
        "other connection words": lambda one: one.config.connection_words,
    }
    for what, of in compared.items():
        if of(other) != of(model):
            raise BadInputError(f"{name} has {what} than start.model", field="start.averaged_with")
    return other


def _by_words_of(model: Model, other: Model) -> dict[str, Tensor]:
    """The weights of a model with the words of another one; what it does not know is as there."""
    weights = other.network.state_dict()
    if isinstance(model.preparer, Vocabulary) and isinstance(other.preparer, Vocabulary):
        number = {word: position for position, word in enumerate(other.preparer.words)}
        shared = [position for position, word in enumerate(model.preparer.words) if word in number]
        embedding = model.network.state_dict()[_EMBEDDING].clone()
        embedding[shared] = weights[_EMBEDDING][[number[model.preparer.words[position]] for position in shared]]
        weights[_EMBEDDING] = embedding
    return weights


def _mean(given: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Of every weight; what is no weight but a number of something is the same in all."""
    return {
        name: torch.stack([weights[name] for weights in given]).mean(0) if tensor.is_floating_point() else tensor
        for name, tensor in given[0].items()
    }


def _for_other_words(known: torch.Tensor, before: ConnectionWords, now: ConnectionWords) -> torch.Tensor:
    """What a network knows of each connection word, for a new list of them; of a new one nothing."""
    rows = {word: known[1 + number] for number, word in enumerate(_sides(before))}
    nothing = torch.zeros_like(known[0])
    return torch.stack([nothing, *(rows.get(word, nothing) for word in _sides(now))])


def _sides(words: ConnectionWords) -> list[tuple[str, bool]]:
    """The words in the order of their rows, each with whether it leads."""
    return [*((word, True) for word in words.leading), *((word, False) for word in words.trailing)]


def save_model(folder: Path, model: Model) -> None:
    """A whole model folder; weights in a form that runs nothing when it is read."""
    write_model(folder, model.config, model.preparer)
    write_weights(folder / bundle.WEIGHTS, model.network.state_dict())


def write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Weights by their names, whole or not at all.

    Written by us: of a full disk the library would tell with an error of its own, which no handler of ours knows.
    """
    content = save({name: tensor.contiguous() for name, tensor in weights.items()})
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def encoder_parameters(network: RUN) -> set[torch.nn.Parameter]:
    """Those of the pretrained encoder, which learn at a rate of their own."""
    layer = network.context_layer
    return set(layer.encoder.parameters()) if isinstance(layer, EncoderContext) else set()


def network_of(config: ModelConfig) -> NetworkSettings:
    """What the network of a model is made of, with defaults for what was not yet known when it was made."""
    try:
        return NetworkSettings.model_validate(dict(config.network))
    except ValidationError as error:
        raise BadInputError(f"is no network: {error.errors()[0]['msg']}", field="network") from error


def _empty_network(config: ModelConfig, preparer: Preparer) -> RUN:
    settings = network_of(config)
    if (config.encoder is None) != (settings.encoder is None):
        raise BadInputError("expected both or none of encoder and network.encoder", field="encoder")
    if config.encoder is None:
        assert isinstance(preparer, Vocabulary)
        return word_network(settings, len(preparer))
    from urewrite.network.pretrained import empty_encoder, encoder_network

    return encoder_network(settings, empty_encoder(config.encoder), config.connection_words)
