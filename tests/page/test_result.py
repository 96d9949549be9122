"""What is shown of an answer, and how its words are linked to where they come from."""

from __future__ import annotations

from playwright.sync_api import expect

from page.screen import TITANIC, dialogue_where, link


def test_edits_are_marked_and_told(screen):
    answer = screen.expect_answer(*TITANIC)
    (edit,) = answer["edits"]
    words = screen.get("#text .edit")
    expect(words).to_have_text([edit["text"]])
    expect(words).to_have_class(f"edit {edit['op']}")
    assert words.get_attribute("aria-label") == f"{edit['text']}, substituted, from turn 1"
    expect(screen.get("#edits li")).to_have_text(
        f"1{edit['text']} in place of 它 from turn 1 · score {edit['score']:.2f}"
    )
    expect(screen.get(".turn >> nth=0 >> mark.source")).to_have_text(edit["text"])
    expect(screen.get(".turn >> nth=2 >> mark.gone")).to_have_text("它")
    expect(screen.get("#announcement")).to_have_text(f"Rewritten with 1 edit: {answer['text']}")


def test_an_insertion(opening, server):
    turns = dialogue_where(server, lambda answer: [edit["op"] for edit in answer["edits"]] == ["insert"])
    screen = opening(server, link(turns))
    answer = screen.expect_answer(*turns)
    (edit,) = answer["edits"]
    expect(screen.get("#text .edit")).to_have_class("edit insert")
    expect(screen.get(".turn.last mark.slot")).to_have_count(1)
    rest = turns[-1][edit["start"] :]
    place = f"before {rest[0]}" if rest else "at the end"
    expect(screen.get("#edits li .what").first).to_have_text(f"{edit['text']} {place}")
    substitute, insert = (
        screen.page.evaluate(
            "op => { const one = document.createElement('span'); one.className = `edit ${op}`;"
            " document.getElementById('text').append(one); const found = getComputedStyle(one);"
            " const style = [found.color, found.textDecorationStyle]; one.remove(); return style; }",
            op,
        )
        for op in ("substitute", "insert")
    )
    assert substitute[0] != insert[0]
    assert substitute[1] != insert[1], "told apart without colours, too"


def test_looking_at_an_edit_shows_its_source(screen):
    screen.expect_answer(*TITANIC)
    source, lines, box = screen.get("mark.source"), screen.get("#links path"), screen.get(".box.made")
    for begin, end in (
        (lambda: screen.get("#text .edit").hover(), lambda: screen.page.mouse.move(0, 0)),
        (lambda: screen.get("#text .edit").focus(), lambda: screen.get("#run").focus()),
        (lambda: screen.get("#edits li").hover(), lambda: screen.page.mouse.move(0, 0)),
        (lambda: screen.page.get_by_role("gridcell").filter(has_text="S").first.hover(), None),
    ):
        expect(lines).to_have_count(0)
        begin()
        expect(source).to_have_class("source substitute hot")
        expect(box).to_have_class("box substitute made hot")
        expect(lines).to_have_count(1)
        start, finish = screen.get("#links circle").all()
        words, mark = screen.get("#text .edit").bounding_box(), source.bounding_box()
        for dot, target in ((start, words), (finish, mark)):
            place = dot.bounding_box()
            assert target["x"] - 6 <= place["x"] <= target["x"] + target["width"]
            assert target["y"] - 8 <= place["y"] <= target["y"] + target["height"] + 8
        if end:
            end()
            expect(source).to_have_class("source substitute")


def test_opening_an_edit_selects_its_source(opening, server):
    turns = ["😀👩‍👩‍👧 你看过泰坦尼克号吗", *TITANIC[1:]]  # characters that JavaScript counts as two and more
    screen = opening(server, link(turns))
    answer = screen.expect_answer(*turns)
    assert answer["edits"]
    for key in ("Enter", " "):
        screen.get("#text .edit").first.press(key)
        edit = answer["edits"][0]
        selected = screen.page.evaluate(
            "() => { const field = document.activeElement;"
            " return field.value.slice(field.selectionStart, field.selectionEnd); }"
        )
        assert selected == edit["text"]
    expect(screen.get("mark.source").first).to_have_text(edit["text"])


def test_facts(screen):
    answer = screen.expect_answer(*TITANIC)
    facts = dict(zip(screen.get("#facts dt").all_inner_texts(), screen.get("#facts dd").all_inner_texts(), strict=True))
    assert facts["Confidence"] == f"{round(100 * answer['confidence'])} %"
    assert facts["Server"].split()[1] == "ms"
    assert float(facts["Round trip"].split()[0].replace(",", "")) > 0
    assert facts["Model"].split("\n") == [answer["model"], "saw 2 turns"]
    expect(screen.get("#reason")).to_have_text("Rewritten with words of the dialogue.")


def test_modes(screen):
    screen.expect_answer(*TITANIC)
    screen.page.get_by_label("Never").check(force=True)
    screen.expect_text(TITANIC[2])
    expect(screen.get("#reason")).to_contain_text("switched off")
    expect(screen.get("#grid-card")).to_be_hidden()
    screen.page.get_by_label("Always").check(force=True)
    screen.expect_answer(*TITANIC, mode="always")
    expect(screen.get("#threshold")).to_be_disabled()
    screen.page.get_by_label("Language").select_option("zh")
    screen.expect_answer(*TITANIC, mode="always", lang="zh")
    assert (screen.asked[-1]["mode"], screen.asked[-1]["lang"]) == ("always", "zh")


def test_reasons_and_notes(opening, server):
    screen = opening(server, link(["你好", "你好", "帮我查一下明天从北京到上海的火车票"]))
    expect(screen.get("#reason")).to_contain_text("Stands on its own")
    many = ["很久以前，" * 60, "在一个遥远的地方，" * 60, TITANIC[0], TITANIC[1], TITANIC[2]]
    screen.write(*many)
    answer = screen.expect_answer(*many)
    assert answer["notes"]
    expect(screen.get("#notes li")).to_have_text([note[0].upper() + note[1:] + "." for note in answer["notes"]])


def test_texts_name_their_language(screen):
    screen.expect_answer(*TITANIC)
    assert screen.get("#text").get_attribute("lang") == "zh-Hans"
    assert screen.turn(1).get_attribute("lang") == "zh-Hans"
    screen.write("Who?", "What is it?")
    screen.expect_answer("Who?", "What is it?")
    assert screen.get("#text").get_attribute("lang") is None
