"""What a run leaves for people: its metrics epoch by epoch, their curves, and the model card."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from urewrite.bundle import CARD, ModelConfig
from urewrite.corpora.sources import SOURCES, Corpus
from urewrite.files import atomic_writer, replacing
from urewrite.network.settings import EncoderSettings, NetworkSettings
from urewrite.pretrained import to_learn_from
from urewrite.scoring.report import LABELS
from urewrite.scoring.scores import METRICS
from urewrite.training.criterion import label_of, metrics_of, value_of
from urewrite.training.data import shown_source, validation_sources
from urewrite.training.settings import DataSettings, StartSettings, TeacherSettings, TrainingSettings, past_settings

METRICS_FILE = "metrics.json"
CURVES = "curves.png"
_LOG = "log"
_LOSSES = {"train_loss": "train_loss_epoch", "validation_loss": "validation_loss"}
_SAME_SCORE = 1e-3
"""Logged metrics and the score of a checkpoint are the same number, but for the precision of floats."""
_BY_CELLS, _BY_THRESHOLDS = "most likely type of each cell, without repeats", "with thresholds"
"""The two ways from probabilities to edits: weights are chosen by the first, thresholds for them by the second."""

_LICENCES = {
    "junnyu/roformer_chinese_sim_char_ft_small": "Apache-2.0 as far as known",
    "sentence-transformers/all-MiniLM-L6-v2": "Apache-2.0",
    "BAAI/bge-small-zh-v1.5": "MIT",
    "bert-base-zh-dequant": "MIT, what it goes back to is not stated",
    "glove.6B.100d": "PDDL",
    "zh-words.64d": "MIT",
}
"""Of pretrained weights and word vectors that the configurations name."""

Record: TypeAlias = dict[str, float]
"""What is known of an epoch: `epoch` and `step` counted from 1, losses and metrics by name."""


def keep_log(folder: Path) -> None:
    """Put the log of an interrupted run aside; Lightning's logger would delete it when the run goes on."""
    log = folder / _LOG / "metrics.csv"
    if log.is_file():
        log.rename(log.with_name(f"metrics-{len(_logs(folder)):03}.csv"))


def is_finished(folder: Path) -> bool:
    """Whether the run in a folder came to its end, so that there is nothing to go on with."""
    try:
        document = json.loads((folder / METRICS_FILE).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return False
    return isinstance(document, dict) and document.get("finished") is True


def write_report(
    folder: Path,
    settings: TrainingSettings,
    config: ModelConfig,
    *,
    parameters: int,
    best: tuple[str, float] | None,
    tuned: Mapping[str, float] | None = None,
    finished: bool = True,
) -> None:
    """Write metrics.json, curves.png and the model card, all from the settings and the log in `folder`.

    `best` is the metric by which the weights were chosen and its value; without it the log says which epoch was best.
    `tuned` are the metrics of the validation part under the model's thresholds; those of the log are of the most likely
    type of each cell, and both are said. A run that learned from the validation part has neither.
    A run without a finished epoch has no curves, and a card that says so.
    """
    validated = [row for log in _logs(folder) for row in _rows(log)]
    epochs = _per_epoch(validated, () if settings.refit is None else _LOSSES)
    monitor, score = best if best is not None else (settings.optimiser.monitor, None)
    chosen = _chosen(validated, monitor, score)
    document = {
        "name": settings.name,
        "seed": settings.seed,
        "validation": None
        if settings.refit is not None
        else ", ".join(map(shown_source, validation_sources(settings.data))),
        "parameters": parameters,
        "monitor": monitor,
        "decoding": {"best": _BY_CELLS, "tuned": _BY_THRESHOLDS, "epochs": _BY_CELLS},
        "best": chosen,
        "tuned": None if tuned is None else {name: round(value, 6) for name, value in tuned.items()},
        "finished": finished,
        "epochs": epochs,
    }
    if epochs:
        _draw(folder / CURVES, settings.name, epochs, chosen)
    _write(folder, document, settings, config)


def report_tuned(folder: Path, settings: TrainingSettings, config: ModelConfig, metrics: Mapping[str, float]) -> None:
    """Write metrics.json and the card anew after thresholds were chosen another time; the rest is as it was."""
    document = json.loads((folder / METRICS_FILE).read_text(encoding="utf-8"))
    document["tuned"] = {name: round(value, 6) for name, value in metrics.items()}
    _write(folder, document, settings, config)


def _write(folder: Path, document: dict[str, Any], settings: TrainingSettings, config: ModelConfig) -> None:
    with atomic_writer(folder / METRICS_FILE) as stream:
        json.dump(document, stream, indent=2)
        stream.write("\n")
    told = (document[name] for name in ("parameters", "monitor", "best", "epochs", "tuned", "decoding"))
    with atomic_writer(folder / CARD) as stream:
        stream.write(_card(settings, config, *told))


def shown_sources(trained_on: Sequence[str]) -> list[str]:
    """The lines of `ModelConfig.trained_on` as others may read them."""
    parted = [line.rpartition(": ") for line in trained_on]
    return [f"{shown_source(name)}{colon}{amount}" for name, colon, amount in parted]


def encoder_name(model: str) -> str:
    """A pretrained encoder as others know it: its name on the hub, or that of the folder it was loaded from."""
    path = Path(model)
    return path.name if path.is_absolute() or model.startswith((".", "~")) or len(path.parts) > 2 else model


def _corpus_of(source: str) -> Corpus | None:
    name = source.partition(":")[0]
    return next((corpus for corpus in SOURCES if corpus.name == name), None)


def _logs(folder: Path) -> list[Path]:
    """The logs of a run, in the order they were written."""
    kept = sorted((folder / _LOG).glob("metrics-*.csv"))
    return [path for path in (*kept, folder / _LOG / "metrics.csv") if path.is_file()]


def _rows(log: Path) -> list[Record]:
    """The rows of a log with a metric or the loss of an epoch in them; a row that was cut off is left out."""
    found: list[Record] = []
    with log.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            try:
                known = {name: float(value) for name, value in row.items() if value}
                record: Record = {"epoch": int(known["epoch"]) + 1, "step": int(known["step"]) + 1}
            except (KeyError, TypeError, ValueError):
                continue
            for name, column in {**_LOSSES, **{metric: metric for metric in METRICS}}.items():
                if column in known:
                    record[name] = float(f"{known[column]:.6g}")
            if len(record) > 2:
                found.append(record)
    return found


def _per_epoch(rows: Sequence[Record], also: Iterable[str] = ()) -> list[Record]:
    """One record for every epoch with a metric, or what is `also` enough to know that it came to its end.

    Where one was begun more than once, the last values count.
    """
    wanted = {*METRICS, *also}
    epochs: dict[float, Record] = {}
    for row in rows:
        epochs.setdefault(row["epoch"], {}).update(row)
    order = ("epoch", "step", *_LOSSES, *METRICS)
    return [
        {name: epochs[number][name] for name in order if name in epochs[number]}
        for number in sorted(epochs)
        if not wanted.isdisjoint(epochs[number])
    ]


def _chosen(validated: Sequence[Record], monitor: str, score: float | None) -> Record | None:
    """The first row with the score of the kept weights, also when its epoch was later gone through again."""
    counted = set(metrics_of(monitor))
    measured = [(row, value_of(monitor, row)) for row in validated if counted <= row.keys()]
    wanted = max((value for _, value in measured), default=None) if score is None else score
    return next((row for row, value in measured if wanted is not None and abs(value - wanted) < _SAME_SCORE), None)


def _draw(path: Path, name: str, epochs: Sequence[Record], best: Record | None) -> None:
    """Losses on the left, validation metrics on the right, the epoch whose weights were kept marked in both."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle(name)
    panels = {
        "Loss": {"train_loss": "training", "validation_loss": "validation"},
        "Validation, %": {metric: LABELS[metric] for metric in ("em", "bleu4", "f1")},
    }
    drawn = {
        title: known
        for title, curves in panels.items()
        if (known := {key: label for key, label in curves.items() if any(key in epoch for epoch in epochs)})
    }
    beside = figure.subplots(1, len(drawn), squeeze=False)[0]
    for axes, (title, curves) in zip(beside, drawn.items(), strict=True):
        for key, label in curves.items():
            points = [(epoch["epoch"], epoch[key]) for epoch in epochs if key in epoch]
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=3, label=label)
        if best is not None:
            axes.axvline(best["epoch"], color="grey", linestyle=":", label="weights kept")
        axes.set_title(title)
        axes.set_xlabel("epoch")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)  # hides no line there
        if title == "Loss":
            axes.set_ylim(bottom=0)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=120)


def _card(
    settings: TrainingSettings,
    config: ModelConfig,
    parameters: int,
    monitor: str,
    best: Record | None,
    epochs: Sequence[Record],
    tuned: Mapping[str, float] | None,
    decoding: Mapping[str, str],
) -> str:
    network = NetworkSettings.model_validate(dict(config.network))
    sources = [line.rpartition(": ")[0] for line in config.trained_on]
    corpora = list(dict.fromkeys(corpus for corpus in map(_corpus_of, sources) if corpus is not None))
    own = (corpus for corpus in map(_corpus_of, settings.data.corpus) if corpus is not None)
    named = next(own, None) or next(iter(corpora), None)  # what it goes on from may have learned from others first
    evaluated = f"{named.name} --part test" if named is not None else "FILE.jsonl"
    return "\n".join(
        (
            "---",
            yaml.safe_dump(_front_matter(settings, config, corpora), allow_unicode=True, sort_keys=False) + "---",
            f"# {config.name}",
            "",
            "Makes a follow-up utterance stand on its own by editing it: words of the dialogue are substituted for",
            "words of the utterance or inserted between them, after *Incomplete Utterance Rewriting as Semantic",
            "Segmentation* (RUN).",
            "",
            "## Use",
            "",
            "With `DIR` standing for this folder:",
            "",
            "```bash",
            'pip install "urewrite[train]"',
            f"urewrite evaluate --model DIR --corpus {evaluated}",
            "```",
            "",
            "## Trained on",
            "",
            *(f"- {line}" for line in _trained_on(config.trained_on)),
            "",
            *(["Of these, only rewrites that edits can make were learned from.", ""] * settings.data.only_exact),
            _chosen_by(settings),
            "",
            "## Network",
            "",
            *_table(_network(network, settings.start, parameters)),
            "",
            "## Training",
            "",
            *_table(_training(settings, network.encoder is not None, monitor, best, len(epochs))),
            "",
            "## Validation",
            "",
            *(
                _validation(best, monitor, epochs, tuned, decoding)
                if settings.refit is None
                else ["It learned from the validation part too, so nothing was measured there."]
            ),
            "",
            f"Thresholds, chosen {'there' if settings.refit is None else 'by the other run'} too:"
            f" a cell is edited from a probability of {config.thresholds.cell}, a region"
            f" is taken from a score of {config.thresholds.region}, a lone one from {config.thresholds.lone},"
            f" a second one for the same place from {config.thresholds.further}, a connection word beside one from a"
            f" probability of {config.thresholds.joining}.",
            "",
            "## Words it may insert",
            "",
            *_connection_words(config),
            "",
            "## Limits",
            "",
            *_limits(config, corpora),
            "",
        )
    )


def card_to_hand_on(card: str) -> str:
    """The card of a run for an exported folder, which is there to rewrite with and has no curves."""
    commands = """pip install urewrite
urewrite rewrite --model DIR -H "an earlier turn" -H "another one" "the utterance"
"""
    card = re.sub(rf"\n!\[.*\]\({CURVES}\)\n", "", card)
    return re.sub(r"(?s)(## Use\n.*?```bash\n).*?(```\n)", lambda found: found[1] + commands + found[2], card, count=1)


def _front_matter(settings: TrainingSettings, config: ModelConfig, corpora: Sequence[Corpus]) -> dict[str, object]:
    """As model cards of the Hugging Face hub begin; what is not known is left out.

    A licence is only named where corpora that state one and the same are all that the weights come from.
    """
    languages = sorted({corpus.language for corpus in corpora})
    licences = {corpus.licence for corpus in corpora}
    foreign = (
        config.encoder is not None
        or config.network.get("lexicon") is not None
        or settings.start.vectors is not None
        or any(map(_is_file, config.trained_on))
    )
    document: dict[str, object] = {"language": languages} if languages else {}
    if len(licences) == 1 and not foreign and not _unstated(corpora[0]):
        document["license"] = corpora[0].licence.lower().replace(" ", "-")
    document["tags"] = ["incomplete-utterance-rewriting", "conversational-query-rewriting", "dialogue"]
    document["metrics"] = ["exact_match", "bleu", "rouge"]
    return document


def _is_file(line: str) -> bool:
    """Whether a line of `ModelConfig.trained_on` tells of a file of one's own."""
    name = line.rpartition(": ")[0]
    return name.endswith((".jsonl", ".jsonl.gz")) or Path(name).name != name


def _unstated(corpus: Corpus) -> bool:
    return corpus.licence.startswith("none")


def _trained_on(lines: Sequence[str]) -> list[str]:
    described = []
    for line, shown in zip(lines, shown_sources(lines), strict=True):
        corpus = _corpus_of(line)
        if corpus is not None:
            licence = "no licence stated" if _unstated(corpus) else f"licence {corpus.licence}"
            shown = f"{shown} — {corpus.citation}; {licence}"
        described.append(shown)
    return described or ["not recorded"]


def _chosen_by(settings: TrainingSettings) -> str:
    """How the weights were chosen."""
    parts = " and ".join(f"`{shown_source(source)}`" for source in validation_sources(settings.data))
    if settings.refit is None:
        return f"The weights were chosen on {parts}{_held_out(settings.data)}."
    run = f"`{Path(settings.refit).name}`"
    return f"The number of epochs was chosen on {parts} by the run {run}, which did not learn from that."


def _held_out(data: DataSettings) -> str:
    if set(validation_sources(data)).isdisjoint(data.corpus):
        return ""
    return f", of which {data.held_out:.0%} of the dialogues were kept back"


def _network(network: NetworkSettings, start: StartSettings, parameters: int) -> dict[str, object]:
    layer = _encoder(network.encoder) if network.encoder is not None else None
    if network.encoder is None or network.encoder.lstm:
        lstm = f"BiLSTM of {network.hidden} a direction"
        terms = network.lexicon
        beside = "" if terms is None else f", with a lexicon of {terms:,} terms whose vectors are not trained"
        words = f"words embedded in {network.embedding} dimensions{beside}"
        layer = f"{layer or words}, then a {lstm}"
    started = {
        "word vectors to start from": (start.vectors,),
        "model whose context layer to start from" if start.only_context else "model to start from": (start.model,),
        "word vectors that one started from": (_vectors_behind(start.model),),
        "averaged with": start.averaged_with,
    }
    return {
        "context layer": layer,
        "similarities": ", ".join(network.similarities)
        + (f", projected to {network.bottleneck} channels" if network.bottleneck else ""),
        "segmentation layer": f"{network.segmentation}, width {network.width}",
        **{
            what: ", ".join(f"`{Path(path).name}`{_licence(path)}" for path in paths if path is not None)
            for what, paths in started.items()
            if any(paths)
        },
        "parameters": f"{parameters:,}",
    }


def _vectors_behind(model: str | None) -> str | None:
    """The word vectors that a run started from, itself or through the run it went on from."""
    settings = None if model is None else to_learn_from(model) / "settings.yaml"
    if settings is None or not settings.is_file():
        return None
    start = past_settings(settings)["start"]
    vectors: str | None = start["vectors"]
    return vectors or _vectors_behind(start["model"])


def _encoder(encoder: EncoderSettings) -> str:
    layers = "" if encoder.layers is None else f", its first {encoder.layers} layers"
    name = encoder_name(encoder.model)
    mixed = "a mix of all layers" if encoder.layer_mix else "its last layer"
    return f"`{name}`{_licence(name)}{layers}, {mixed}"


def _teacher(teacher: TeacherSettings) -> str:
    names = ", ".join(f"`{Path(model).name}`" for model in teacher.model)
    return f"{names}, {teacher.weight:g} of the loss"


def _licence(name: str) -> str:
    known = _LICENCES.get(name)
    return f" (licence: {known})" if known else ""


def _training(
    settings: TrainingSettings, has_encoder: bool, monitor: str, best: Record | None, epochs: int
) -> dict[str, object]:
    optimiser = settings.optimiser
    return {
        "epochs": f"{epochs} of at most {optimiser.epochs}",
        "weights kept": f"epoch {best['epoch']}, step {best['step']:,}, by {label_of(monitor)}" if best else "–",
        "batch size": optimiser.batch_size,
        "learning rate": optimiser.learning_rate,
        **({"learning rate of the encoder": optimiser.encoder_learning_rate} if has_encoder else {}),
        "schedule": optimiser.schedule,
        **({} if settings.teacher is None else {"teacher": _teacher(settings.teacher)}),
        "seed": settings.seed,
    }


def _validation(
    best: Record | None,
    monitor: str,
    epochs: Sequence[Record],
    tuned: Mapping[str, float] | None,
    decoding: Mapping[str, str],
) -> list[str]:
    if not epochs:
        return ["No epoch was finished, so nothing was measured."]
    curves = ["", f"![Losses and validation metrics of every epoch]({CURVES})"]
    if best is None:
        said = f"The log lacks the epoch whose weights were kept for their {label_of(monitor)}."
    else:
        said = f"The weights were chosen by the {label_of(monitor)} of the first column."
    measured = {decoding["best"]: best, decoding["tuned"]: tuned}
    columns = {how: metrics for how, metrics in measured.items() if metrics is not None}
    rows = {
        LABELS[name]: " | ".join(f"{metrics[name]:.2f}" if name in metrics else "–" for metrics in columns.values())
        for name in METRICS
        if any(name in metrics for metrics in columns.values())
    }
    return [said, *(["", *_table(rows, tuple(columns))] if columns else []), *curves]


def _connection_words(config: ModelConfig) -> list[str]:
    """Those that no dialogue has to hold; everything else is copied."""
    listed = {"before": config.connection_words.leading, "after": config.connection_words.trailing}
    lines = [
        f"- {place} what is copied: {' '.join(f'`{word}`' for word in words)}"
        for place, words in listed.items()
        if words
    ]
    return lines or ["None: every word of a rewrite comes from the dialogue."]


def _limits(config: ModelConfig, corpora: Sequence[Corpus]) -> list[str]:
    names = {"en": "English", "zh": "Chinese"}
    languages = [names[language] for language in sorted({corpus.language for corpus in corpora})]
    return [
        f"- Made for {' and '.join(languages) or 'the language of its training examples'}; text is split into words by"
        " rules for English and Chinese.",
        "- It edits: a rewrite that needs a word found neither in the dialogue nor above is out of its reach.",
        f"- It sees at most {config.most_rows} words of history, separators and connection words included; the earliest"
        " turns are left out first.",
        "- It knows no facts and checks none.",
    ]


def _table(rows: Mapping[str, Any], columns: Sequence[str] = ("",)) -> list[str]:
    header = " | ".join(("|", *columns)).rstrip() + " |"
    return [header, "|---" * (1 + len(columns)) + "|", *(f"| {name} | {value} |" for name, value in rows.items())]
