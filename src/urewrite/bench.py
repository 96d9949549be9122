"""How fast a model is on this machine: the time to load it, to rewrite one dialogue, and to rewrite many."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from urewrite.dialogue import Dialogue
from urewrite.errors import BadInputError
from urewrite.language import Language
from urewrite.pipeline import BATCH_SIZE
from urewrite.rewriter import Rewriter

SAMPLES: dict[Language, tuple[Dialogue, ...]] = {
    "en": (
        Dialogue.of(
            ["How is the weather in Beijing today?", "Beijing is cloudy today."], "Why is it always like this?"
        ),
        Dialogue.of(["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?"),
        Dialogue.of(["I am looking for a cheap restaurant in the centre."], "What about an expensive one?"),
        Dialogue.of(
            [
                "Do you have the RTX-4090 in stock?",
                "Yes, we have three of them, at 1,799 dollars each.",
                "Can it be delivered to Oslo?",
                "Delivery to Oslo takes five working days.",
            ],
            "How much does that cost?",
        ),
        Dialogue.of(
            [
                "Tell me about the Hubble telescope.",
                "The Hubble Space Telescope was launched in 1990 and still circles the earth, 540 kilometres above it.",
                "Who was it named after?",
                "It was named after Edwin Hubble, an American astronomer who showed that the universe expands.",
            ],
            "Where did he work?",
        ),
        Dialogue.of(["Hello!", "Hello, how can I help you?"], "Please book a table for two at eight o'clock tonight."),
    ),
    "zh": (
        Dialogue.of(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样"),
        Dialogue.of(["你喜欢周杰伦吗", "喜欢，他的歌很好听"], "最喜欢哪一首"),
        Dialogue.of(["上海的房价是多少"], "那深圳呢"),
        Dialogue.of(["我想买一台笔记本电脑", "您的预算是多少", "五千元左右"], "有轻一点的吗"),
        Dialogue.of(
            ["张艺谋导演了哪些电影", "他导演了红高粱、英雄和十面埋伏等电影，其中红高粱获得了金熊奖"], "这部是哪年上映的"
        ),
        Dialogue.of(["你好", "你好，请问有什么可以帮您"], "帮我查一下明天从北京到上海的火车票"),
    ),
}
"""Dialogues of the sizes that people have, some of which need no rewriting."""

WARM_UP = 3
"""Rewrites before the clock runs: the first ones of a process set up what later ones use."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Figures of a model: seconds to load, milliseconds for one dialogue by itself, dialogues a second together."""

    model: str
    dialogues: int
    repeat: int
    batch_size: int
    threads: int | None
    load_seconds: float
    latency_p50_ms: float
    latency_p95_ms: float
    latency_mean_ms: float
    throughput: float
    machine: str
    cores: int


def measure(
    model: str,
    dialogues: Sequence[Dialogue] | None = None,
    *,
    lang: Language | None = None,
    threads: int | None = None,
    repeat: int = 20,
    batch_size: int = BATCH_SIZE,
) -> Speed:
    """Measure a model on dialogues, each `repeat` times alone and in batches; by default on samples of its languages.

    The time to load counts what loads with a model, ONNX Runtime above all, unless that was loaded before.
    """
    if repeat < 1:
        raise BadInputError(f"expected at least 1, found {repeat}", field="repeat")
    begun = time.perf_counter()
    rewriter = Rewriter.from_pretrained(model, threads=threads)
    languages = [lang] if lang is not None else _languages(rewriter)
    configs = [rewriter.config(language) for language in languages]
    loaded = time.perf_counter() - begun
    given = [one for language in languages for one in SAMPLES[language]] if dialogues is None else list(dialogues)
    if not given:
        raise BadInputError("there is no dialogue to measure with", field="dialogues")
    for dialogue in (given * WARM_UP)[:WARM_UP]:
        rewriter.rewrite_batch([dialogue], lang=lang)
    alone: list[float] = []
    for dialogue in given * repeat:
        begun = time.perf_counter()
        rewriter.rewrite_batch([dialogue], lang=lang)
        alone.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    rewriter.rewrite_batch(given * repeat, batch_size=batch_size, lang=lang)
    together = time.perf_counter() - begun
    alone.sort()
    return Speed(
        model=", ".join(dict.fromkeys(config.name for config in configs)),
        dialogues=len(given),
        repeat=repeat,
        batch_size=batch_size,
        threads=threads,
        load_seconds=loaded,
        latency_p50_ms=1000 * _quantile(alone, 0.5),
        latency_p95_ms=1000 * _quantile(alone, 0.95),
        latency_mean_ms=1000 * fmean(alone),
        throughput=len(given) * repeat / together,
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        cores=os.cpu_count() or 1,
    )


def _languages(rewriter: Rewriter) -> list[Language]:
    """What a model says it is for; one that says nothing is tried with both."""
    known: tuple[Language, ...] = ("en", "zh")
    said = {language: rewriter.config(language).languages for language in known}
    return [language for language in known if language in said[language]] or list(known)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all do not exceed."""
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
