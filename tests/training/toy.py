"""A toy corpus in two languages that a network really learns: a name replaces a pronoun or completes a question."""

from __future__ import annotations

import json
import random
from pathlib import Path

NAMES = ["Kobe", "Anna", "Beijing", "Paris", "Miles", "Maria", "Tokyo", "Oslo"]
CHINESE = ["北京", "小明", "上海", "周杰", "王菲", "东京"]
SMALL_TALK = ["hello", "well", "now", "then", "so", "and", "good", "fine", "ah", "oh", "yes", "no"]
CHINESE_TALK = "嗯啊哦好是的对吧呢嘛哈呀"


def toy_records(amount: int, seed: int) -> list[dict[str, object]]:
    chance = random.Random(seed)
    records: list[dict[str, object]] = []
    for number in range(amount):
        if number % 2:
            name = chance.choice(NAMES)
            talk = " ".join(chance.choices(SMALL_TALK, k=2))  # so that no two dialogues are the same
            history = [f"{talk} , do you know {name} ?", chance.choice(["Yes I do .", "Sure .", "No , sorry ."])]
            utterance, rewrite = chance.choice(
                [("where is it now ?", f"where is {name} now ?"), ("and why ?", f"and why {name} ?")]
            )
        else:
            name = chance.choice(CHINESE)
            talk = "".join(chance.choices(CHINESE_TALK, k=2))
            history = [f"{talk}，你知道{name}吗", chance.choice(["知道", "不知道"])]
            utterance, rewrite = chance.choice([("它好吗", f"{name}好吗"), ("怎么样", f"{name}怎么样")])
        records.append({"history": history, "utterance": utterance, "rewrite": rewrite, "dialogue_id": str(number)})
    return records


def write_toy(folder: Path, train: int, validation: int) -> tuple[Path, Path]:
    paths = folder / "train.jsonl", folder / "validation.jsonl"
    for path, amount, seed in zip(paths, (train, validation), (1, 2), strict=True):
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in toy_records(amount, seed)]
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def toy_settings(folder: Path, **optimiser: object) -> dict[str, object]:
    train, validation = write_toy(folder, 480, 60)
    return {
        "name": "toy",
        "data": {"corpus": str(train), "validation": str(validation), "connection_words": 0},
        "network": {
            "embedding": 24,
            "hidden": 24,
            "dropout_in": 0.1,
            "dropout_out": 0.1,
            "bottleneck": 16,
            "width": 16,
        },
        "optimiser": {"batch_size": 12, "learning_rate": 0.01, "epochs": 8, "schedule": "cosine", **optimiser},
    }
