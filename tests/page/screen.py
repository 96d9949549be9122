"""The page as a user sees it."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from serve.server import Server

KEY = "a-key-for-the-tests-0123456789"
TITANIC = ["你看过泰坦尼克号吗", "看过，我很喜欢这部电影", "你觉得它的主题曲怎么样"]
"""In which any model finds the one edit: 泰坦尼克号 in place of 它."""
OTHERS = [
    ["张艺谋导演了哪些电影", "他导演了红高粱、英雄和十面埋伏等电影", "这些电影哪部最好看"],
    ["你喜欢周杰伦吗", "喜欢，他的歌很好听", "最喜欢哪一首"],
    ["你去过西湖吗", "去过，风景很美", "什么时候去的"],
    ["我想买一台笔记本电脑", "您的预算是多少", "五千元左右", "有轻一点的吗"],
    ["上海的房价是多少", "每平方米六万元左右", "那深圳呢"],
    ["北京今天天气如何", "北京今天是阴天", "为什么总是这样"],
    ["你在看什么", "我在看琅琊榜", "谁演的", "胡歌和刘涛", "他还演过什么"],
    ["仙剑奇侠传好看吗", "很好看", "你最喜欢哪个角色", "我喜欢赵灵儿，演员是刘亦菲", "那她还演过什么"],
]
"""What is found in these depends more on the model."""


def link(turns: list[str], **more: object) -> str:
    """The fragment of a dialogue whose last turn is the user's."""
    roles = ("ua"[(len(turns) - 1 - number) % 2] for number in range(len(turns)))
    return urlencode([*zip(roles, turns, strict=True), *more.items()])


def dialogue_where(server: Server, holds: Callable[[dict[str, object]], bool]) -> list[str]:
    """One of the others, whose answer is as a test needs it."""
    for turns in OTHERS:
        body = {"history": turns[:-1], "utterance": turns[-1], "return_grid": True, "lang": "zh"}
        if holds(server.post("/v1/rewrite", body).json()):
            return turns
    raise AssertionError("no dialogue is as the test needs it; add one for the model that is bundled now")


class Screen:
    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.failures: list[str] = []
        self.addresses: list[str] = []
        """Of all requests."""
        self.asked: list[dict[str, object]] = []
        """The bodies of those that rewrite."""
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.on("console", self._said)
        page.on("dialog", lambda dialog: (self.failures.append(dialog.message), dialog.dismiss()))
        page.on("request", self._requested)

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"{self.server.address}/{'#' if fragment else ''}{fragment}")

    def get(self, selector: str):
        return self.page.locator(selector)

    def turn(self, number: int):
        """The field of a turn, from 1."""
        return self.get(".turn textarea").nth(number - 1)

    @property
    def turns(self) -> list[str]:
        return [field.input_value() for field in self.get(".turn textarea").all()]

    def write(self, *turns: str) -> None:
        """A whole dialogue in place of what is there, typed by keys."""
        self.page.get_by_role("button", name="Clear").click()
        for number, text in enumerate(turns):
            if number:
                self.page.keyboard.press("Enter")
            self.page.keyboard.insert_text(text)

    def answer(self, *turns: str, **wishes: object) -> dict[str, object]:
        """What the server says to a dialogue, asked by something else than the page."""
        body = {"history": list(turns[:-1]), "utterance": turns[-1], "return_grid": True, **wishes}
        return self.server.post("/v1/rewrite", body, headers={"authorization": f"Bearer {KEY}"}).json()

    def expect_text(self, text: str) -> None:
        """That the rewrite is shown, and is no earlier one."""
        expect(self.get("#text")).to_have_text(text, use_inner_text=True)
        expect(self.get("#rewrite")).not_to_have_class("card stale")

    def expect_answer(self, *turns: str, **wishes: object) -> dict[str, object]:
        """That what is shown is what the server says."""
        answer = self.answer(*turns, **wishes)
        self.expect_text(answer["text"])
        return answer

    def clipboard(self) -> str:
        return self.page.evaluate("() => navigator.clipboard.readText()")

    def copied(self, button: str) -> str:
        """What a button puts on the clipboard."""
        self.page.evaluate("() => navigator.clipboard.writeText('')")
        self.page.get_by_role("button", name=button, exact=True).click()
        expect(self.get("#toast")).to_contain_text("copied")
        return self.clipboard()

    def _said(self, message) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.failures.append(message.text)

    def _requested(self, request) -> None:
        self.addresses.append(request.url)
        if request.url.endswith("/v1/rewrite"):
            self.asked.append(json.loads(request.post_data))
