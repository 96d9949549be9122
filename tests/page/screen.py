"""The page as a user sees it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, Request, expect

from serve.server import Server

KEY = "a-key-for-the-tests-0123456789"
BEIJING = ["嗯啊，你知道北京吗", "知道", "它好吗"]
"""The toy model makes 北京好吗 of it: a substitution."""
WANG_FEI = ["哦好，你知道王菲吗", "不知道", "怎么样"]
"""王菲怎么样: an insertion."""
OSLO = ["well now , do you know Oslo ?", "Sure .", "where is it now ?"]
"""where is Oslo now ?"""


def link(turns: list[str], **more: object) -> str:
    """The fragment of a dialogue whose last turn is the user's."""
    roles = ("ua"[(len(turns) - 1 - number) % 2] for number in range(len(turns)))
    return urlencode([*zip(roles, turns, strict=True), *more.items()])


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
        page.on("dialog", self._interrupted)
        page.on("request", self._requested)

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"{self.server.address}/{'#' if fragment else ''}{fragment}")

    def get(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def turn(self, number: int) -> Locator:
        """The field of a turn, from 1."""
        return self.get(".turn textarea").nth(number - 1)

    def problem(self, number: int) -> Locator:
        """What is wrong with a turn."""
        return self.get(".turn").nth(number - 1).locator(".problem")

    def cell(self, row: int, column: int) -> Locator:
        return self.get(f"[data-row='{row}'][data-column='{column}']")

    @property
    def slider(self) -> Locator:
        return self.page.get_by_role("slider", name="Threshold")

    @property
    def turns(self) -> list[str]:
        """What the fields hold, once there are any: the page's script makes them."""
        self.turn(1).wait_for()
        return [field.input_value() for field in self.get(".turn textarea").all()]

    def write(self, *turns: str) -> None:
        """A whole dialogue in place of what is there, typed by keys."""
        self.button("Clear").click()
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
        expect(self.get("#rewrite:not(.stale)")).to_be_visible()

    def expect_answer(self, *turns: str, **wishes: object) -> dict[str, object]:
        """That what is shown is what the server says."""
        answer = self.answer(*turns, **wishes)
        self.expect_text(answer["text"])
        return answer

    def copied(self, button: str) -> str:
        """What a button puts on the clipboard."""
        self.page.evaluate("() => navigator.clipboard.writeText('')")
        self.button(button).click()
        expect(self.get("#toast")).to_contain_text("copied")
        return self.page.evaluate("() => navigator.clipboard.readText()")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.failures.append(message.text)

    def _interrupted(self, dialog: Dialog) -> None:
        self.failures.append(dialog.message)
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        self.addresses.append(request.url)
        if request.url.endswith("/v1/rewrite"):
            self.asked.append(json.loads(request.post_data))
