"""Pretrained encoders and their tokenisers: from a folder, from the hub, or from what a model folder keeps of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from tokenizers import Tokenizer
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel, AutoTokenizer, PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from urewrite.edits.grid import ConnectionWords
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import local_weights
from urewrite.network.context import EncoderContext
from urewrite.network.run import RUN
from urewrite.network.settings import EncoderSettings, NetworkSettings
from urewrite.prepare.pieces import WordPieces

LONGEST = 512
"""Pieces taken where an encoder does not say how many positions it has."""

_COUNT_FROM_PADDING = {"camembert", "mpnet", "roberta", "xlm-roberta"}
"""Architectures whose first position has the number after that of the padding."""

_WITHOUT_POOLER = {"albert", "bert", "camembert", "mpnet", "roberta", "xlm-roberta"}
"""Architectures that let us leave out the pooler."""


def load_encoder(settings: EncoderSettings) -> PreTrainedModel:
    """The encoder with its pretrained weights, cut as asked for."""
    without_pooler = _pooler_switch(_fetched(AutoConfig, settings.model))
    encoder, report = _fetched(
        AutoModel, settings.model, dtype=torch.float32, output_loading_info=True, **without_pooler
    )
    missing = sorted(name for name in report["missing_keys"] if "pooler" not in name and "embed_positions" not in name)
    if missing:  # the library would start them at random
        raise DataUnavailableError(
            f"the encoder {settings.model} lacks weights: {missing[0]} and {len(missing) - 1} more"
        )
    _check_layers(settings, encoder)
    if settings.layers is not None:
        _keep_layers(encoder, settings.layers)
    trained: PreTrainedModel = encoder.train()
    return trained


def load_pieces(settings: EncoderSettings) -> WordPieces:
    """The tokeniser that belongs to an encoder."""
    tokenizer = _fetched(AutoTokenizer, settings.model, use_fast=True, add_prefix_space=True)
    config = _fetched(AutoConfig, settings.model)
    start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    separator = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    if start is None or separator is None:
        raise DataUnavailableError(f"{settings.model}: the tokenizer has no start or no separator token")
    positions = int(getattr(config, "max_position_embeddings", LONGEST))
    if config.model_type in _COUNT_FROM_PADDING:
        positions -= config.pad_token_id + 1
    longest = min(positions, LONGEST)
    backend: Tokenizer = tokenizer.backend_tokenizer
    if backend.get_vocab_size() <= len(tokenizer.all_special_ids):  # what the library makes of a folder without one
        raise DataUnavailableError(f"{settings.model} holds no tokenizer")
    backend.no_truncation()
    backend.no_padding()
    return WordPieces(backend, start=start, separator=separator, longest=longest)


def encoder_network(settings: NetworkSettings, encoder: PreTrainedModel, words: ConnectionWords) -> RUN:
    """RUN with an encoder as its context layer."""
    asked = settings.encoder
    assert asked is not None
    _freeze(encoder, asked.frozen_layers)
    layer = EncoderContext(
        encoder,
        layer_mix=asked.layer_mix,
        hidden=settings.hidden if asked.lstm else None,
        dropout_in=settings.dropout_in,
        dropout_out=settings.dropout_out,
        connection_words=words,
    )
    return RUN(settings, layer)


def with_fewer_layers(context: EncoderContext, layers: int) -> dict[str, Any]:
    """Keep the first layers of a trained encoder, and of the mix what belongs to them; gives its configuration."""
    there = int(context.encoder.config.num_hidden_layers)
    if layers > there:
        raise BadInputError(f"the encoder of the model has only {there} layers", field="start.layers")
    _keep_layers(context.encoder, layers)
    if context.mix is not None:
        context.mix = torch.nn.Parameter(context.mix.detach()[: layers + 1].clone())
    return described(context.encoder)


def described(encoder: PreTrainedModel) -> dict[str, Any]:
    """What a model folder keeps of an encoder beside its weights; `empty_encoder` reads it."""
    told: dict[str, Any] = encoder.config.to_diff_dict()
    return told | {"model_type": encoder.config.model_type}


def empty_encoder(config: Mapping[str, Any]) -> PreTrainedModel:
    """The encoder of a saved configuration, its weights still to be loaded."""
    known = dict(config)
    kind = known.pop("model_type", None)
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        raise BadInputError(
            f"expected an architecture that transformers knows, such as 'bert', found {kind!r}",
            field="encoder.model_type",
        )
    try:
        made: PretrainedConfig = AutoConfig.for_model(kind, **known)
        encoder: PreTrainedModel = AutoModel.from_config(made, **_pooler_switch(made))  # type: ignore[no-untyped-call]
    except (TypeError, ValueError, KeyError, RuntimeError, StrictDataclassError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadInputError(f"is no configuration of a {kind} encoder: {reason}", field="encoder") from error
    return encoder


def _check_layers(settings: EncoderSettings, encoder: PreTrainedModel) -> None:
    """Refuse to keep or to freeze more layers than there are."""
    shared = _shares_layers(encoder)
    there = int(encoder.config.num_hidden_layers) if shared else len(_layers(encoder))
    if settings.layers is not None and settings.layers > there:
        raise BadInputError(
            f"expected at most the {there} layers the encoder has, found {settings.layers}",
            field="network.encoder.layers",
        )
    kept = there if settings.layers is None else settings.layers
    if settings.frozen_layers > (0 if shared else kept):
        most = "0, since all layers share their weights" if shared else f"at most the {kept} layers that are kept"
        raise BadInputError(f"expected {most}, found {settings.frozen_layers}", field="network.encoder.frozen_layers")


def _keep_layers(encoder: PreTrainedModel, layers: int) -> None:
    if not _shares_layers(encoder):
        del _layers(encoder)[layers:]
    encoder.config.num_hidden_layers = layers


def _shares_layers(encoder: PreTrainedModel) -> bool:
    """Whether all layers are one and the same, read again and again, as in ALBERT."""
    if encoder.config.model_type != "albert":
        return False
    if encoder.config.num_hidden_groups * encoder.config.inner_group_num != 1:
        raise DataUnavailableError("of ALBERT encoders only those whose layers all share their weights can be used")
    return True


def _layers(encoder: PreTrainedModel) -> torch.nn.ModuleList:
    for name in ("encoder.layer", "transformer.layer", "layers", "encoder.layers"):
        try:
            found = encoder.get_submodule(name)
        except AttributeError:
            continue
        if isinstance(found, torch.nn.ModuleList):
            return found
    raise DataUnavailableError(
        f"a network of the kind {encoder.config.model_type} cannot be the encoder: expected one such as bert or electra"
    )


def _freeze(encoder: PreTrainedModel, layers: int) -> None:
    """Leave embeddings and first layers as they are.

    And always RoFormer's sine waves, which it never trains, and a pooler, which nothing here uses: several processes
    would wait in vain for its gradient.
    """
    names = ["encoder.embed_positions", "pooler"]
    frozen: list[torch.nn.Module] = []
    if layers:
        frozen.extend(_layers(encoder)[:layers])
        names += ["embeddings", "embeddings_project"]  # the latter where embeddings are narrower than layers
        encoder.get_input_embeddings().requires_grad_(False)
    modules = dict(encoder.named_modules())
    for module in (*frozen, *(modules[name] for name in names if name in modules)):
        module.requires_grad_(False)


def _pooler_switch(config: PretrainedConfig) -> dict[str, bool]:
    """Leave out the pooler, which nothing here uses, where the architecture lets us."""
    return {"add_pooling_layer": False} if config.model_type in _WITHOUT_POOLER else {}


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the library's bars and its report on poolers we do not ask for."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
        logging.set_verbosity(level)


def _fetched(kind: Any, model: str, **options: Any) -> Any:  # noqa: ANN401 - transformers' own
    folder = local_weights(model)
    if model.startswith((".", "/", "~")) and not folder.is_dir():
        raise DataUnavailableError(f"the encoder {model} cannot be loaded: there is no such folder")
    if folder.is_dir():
        options["local_files_only"] = True
    try:
        with _quietly():
            return kind.from_pretrained(str(folder) if folder.is_dir() else model, **options)
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0]
        raise DataUnavailableError(f"the encoder {model} cannot be loaded: {reason}") from error
