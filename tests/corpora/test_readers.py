from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.corpora import CORPORA, PARTS, Rejects, example_file, load_corpus, read_jsonl
from urewrite.corpora.canard import read_canard, read_reduced
from urewrite.corpora.jsonl import write_jsonl
from urewrite.corpora.multi import join_characters, read_columns, read_pair
from urewrite.corpora.qrecc import parse_conversation, read_development, read_sample
from urewrite.corpora.rewrite import part_of_lines, read_rewrite
from urewrite.corpora.task import part_of_dialogue, read_task
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import atomic_writer


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def write_json(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def texts(example: Example) -> tuple[list[str], str, str]:
    return [turn.text for turn in example.dialogue.history], example.dialogue.utterance, example.rewrite


def refused(read, reason: str, file: Path, line: int | None) -> None:
    """The reader raises a fault at this place; told to collect, it collects that one fault."""
    with pytest.raises(BadInputError, match=reason) as caught:
        read(None)
    assert (caught.value.file, caught.value.line) == (str(file), line)
    if line is None:
        return
    rejects = Rejects()
    read(rejects)
    assert [(item.file, item.line) for item in rejects.items] == [(str(file), line)]


class TestRewrite:
    def test_columns_are_stripped_and_empty_context_dropped(self, tmp_path):
        path = write(tmp_path / "corpus.txt", " 在吗\t\t\t\t怎么样 \t\t 天气怎么样")
        (example,) = read_rewrite(path, "train")
        assert texts(example) == (["在吗"], "怎么样", "天气怎么样")
        assert example.dialogue_id == "rewrite:1"

    def test_twenty_thousand_lines_are_cut_like_the_paper(self):
        assert [len(part_of_lines(20_000, part)) for part in PARTS] == [17_000, 1_000, 2_000]

    @given(st.integers(0, 50_000))
    def test_parts_cover_the_lines_once(self, total):
        covered = [line for part in PARTS for line in part_of_lines(total, part)]
        assert covered == list(range(total))

    def test_a_bad_line_moves_no_other(self, tmp_path):
        lines = [f"一\t\t二\t\t问{n}\t\t答{n}" for n in range(40)]
        good = read_rewrite(write(tmp_path / "good.txt", *lines), "test")
        lines[3] = "broken"
        assert read_rewrite(write(tmp_path / "bad.txt", *lines), "test") == good

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("一\t\t二\t\t三", "expected 4 columns separated by two tabs, found 3"),
            ("一\t\t二\t\t三\t\t四\t\t五", "found 5"),
            ("一\t二\t三\t四", "found 1"),
            ("", "found 1"),
            ("一\t\t二\t\t \t\t四", "the utterance is empty"),
            ("一\t\t二\t\t三\t\t", "the rewrite is empty"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, reason):
        path = write(tmp_path / "corpus.txt", "一\t\t二\t\t三\t\t四", line, "一\t\t二\t\t三\t\t四")
        refused(lambda rejects: read_rewrite(path, "train", rejects=rejects), reason, path, 2)


class TestMulti:
    def test_unchanged_and_rewritten(self, tmp_path):
        path = write(tmp_path / "valid.txt", "a\t\tc\td\t问\t回\t0\t", "a\tb\tc\td\t问\t回\t1\t好问")
        first, second = read_columns(path, "validation")
        assert texts(first) == (["a", "c", "d"], "问", "问")
        assert texts(second) == (["a", "b", "c", "d"], "问", "好问")
        assert first.dialogue_id == "multi-validation:1"

    def test_the_known_empty_utterances_are_repaired(self, tmp_path):
        path = write(tmp_path / "test.txt", "a\tb\tc\td\t\t肿了没\t1\t石头剪刀布输了删耳光已经玩过了")
        assert read_columns(path, "test")[0].dialogue.utterance == "已经玩过了"

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("a\tb\tc\td\t问\t回\t0", "expected 8 columns separated by tabs, found 7"),
            ("a\tb\tc\td\t问\t回\t2\t", "expected 0 or 1, found '2'"),
            ("a\tb\tc\td\t问\t回\t0\t好问", "not rewritten, but column 8 holds"),
            ("a\tb\tc\td\t问\t回\t1\t", "was rewritten, but column 8 is empty"),
            ("a\tb\tc\td\t\t回\t1\t好问", "the utterance is empty"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, reason):
        path = write(tmp_path / "valid.txt", "a\tb\tc\td\t问\t回\t0\t", line)
        refused(lambda rejects: read_columns(path, "validation", rejects=rejects), reason, path, 2)

    def test_the_original_pair(self, tmp_path):
        source = write(
            tmp_path / "train.sr", "你 好 <split> 去 北 京 || 什 么 时 候 | 北 京", "在 吗 || 在 | ", "a | b || 好"
        )
        target = write(tmp_path / "train.tr", "什 么 时 候 去 北 京", "在", "好")
        assert [texts(example) for example in read_pair(source, target, "train")] == [
            (["你好", "去北京"], "什么时候", "什么时候去北京"),
            (["在吗"], "在", "在"),
            (["a|b"], "好", "好"),
        ]

    def test_the_record_on_two_lines_of_the_test_part(self, tmp_path):
        lines = [f"第 {n} 句 || 好 | " for n in range(3222)]
        broken = ["有 没 有 清 新 一 点 的 局 <split> 石 头 剪 刀 布 S-N", "也 不 错 || | 石 头"]
        source = write(tmp_path / "test.sr", *lines, *broken, "最 后 || 好 | ")
        target = write(tmp_path / "test.tr", *["好"] * 3222, "石 头 剪 刀 布 输 了 删 耳 光 已 经 玩 过 了", "好")
        examples = read_pair(source, target, "test")
        assert len(examples) == 3224
        history, utterance, rewrite = texts(examples[3222])
        assert (len(history), utterance, rewrite) == (4, "已经玩过了", "石头剪刀布输了删耳光已经玩过了")
        assert texts(examples[3223]) == (["最后"], "好", "好")

    @pytest.mark.parametrize(
        ("record", "rewrite", "reason", "file"),
        [
            ("没 有 分 隔", "好", r"expected ' \|\| '", "train.sr"),
            ("在 吗 || | x", "好", "the utterance is empty", "train.sr"),
        ],
    )
    def test_bad_records(self, tmp_path, record, rewrite, reason, file):
        source = write(tmp_path / "train.sr", "在 吗 || 在 | ", record)
        target = write(tmp_path / "train.tr", "在", rewrite)
        refused(lambda rejects: read_pair(source, target, "train", rejects=rejects), reason, tmp_path / file, 2)

    def test_a_rewrite_that_is_not_utf8_is_at_fault_itself(self, tmp_path):
        source = write(tmp_path / "train.sr", "在 吗 || 在 | ")
        (tmp_path / "train.tr").write_bytes(b"\xff\n")
        target = tmp_path / "train.tr"
        refused(lambda rejects: read_pair(source, target, "train", rejects=rejects), "0xff", target, 1)

    def test_files_of_different_length_do_not_go_together(self, tmp_path):
        source, target = write(tmp_path / "train.sr", "在 吗 || 在 | "), write(tmp_path / "train.tr", "在", "在")
        refused(
            lambda rejects: read_pair(source, target, "train", rejects=rejects), "2 rewrites for the 1", target, None
        )

    @pytest.mark.parametrize(
        ("split", "joined"),
        [
            ("你 好", "你好"),
            ("杭 州 2 4 男", "杭州24男"),
            ("g o o d b y e", "goodbye"),
            ("good bye 吗", "good bye吗"),
            ("I am ok", "I am ok"),
            ("用 iphone 好", "用iphone好"),
            ("", ""),
        ],
    )
    def test_joining_characters(self, split, joined):
        assert join_characters(split) == joined


def task_turn(complete: str, ellipsis: str = "", coreference: str = "", reply: str = "OK.") -> dict[str, object]:
    user = {
        "transcript_complete": complete,
        "transcript_with_ellipsis": ellipsis,
        "transcript_with_coreference": coreference,
    }
    return {"turn": 0, "usr": user, "sys": {"sent": reply}}


class TestTask:
    def test_ellipsis_before_coreference_before_complete(self, tmp_path):
        turns = [task_turn("a b c", "", "", "r1"), task_turn("d e f", "d", "it f", "r2"), task_turn("g h ", "", "it h")]
        path = write_json(tmp_path / "task.json", [{"dialogue_id": 0, "dial": turns}])
        assert [texts(example) for example in read_task(path, "train")] == [
            ([], "a b c", "a b c"),
            (["a b c", "r1"], "d", "d e f"),
            (["a b c", "r1", "d e f", "r2"], "it h", "g h"),
        ]

    def test_roles(self, tmp_path):
        path = write_json(tmp_path / "task.json", [{"dialogue_id": 0, "dial": [task_turn("a"), task_turn("b")]}])
        assert read_task(path, "train")[1].dialogue.history == (Turn("a", "user"), Turn("OK.", "assistant"))

    def test_parts_by_dialogue(self):
        assert [part_of_dialogue(number) for number in (0, 8, 9, 539, 540, 675)] == [
            "train", "train", "validation", "validation", "test", "test",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("dialogue", "reason"),
        [
            ({"dial": []}, "'dialogue_id'.*the key is missing"),
            ({"dialogue_id": None, "dial": []}, "'dialogue_id'.*expected a whole number, found null"),
            ({"dialogue_id": "1", "dial": []}, "expected a whole number, found text"),
            ({"dialogue_id": 1.0, "dial": []}, "expected a whole number, found a decimal number"),
            ({"dialogue_id": True, "dial": []}, "expected a whole number, found true or false"),
            ({"dialogue_id": 1}, "'dial'.*expected a list, found null"),
            ({"dialogue_id": 1, "dial": [7]}, "turn 1: expected a JSON object"),
            ({"dialogue_id": 1, "dial": [task_turn("a"), {"usr": {}}]}, "turn 2: expected a JSON object, found null"),
            ({"dialogue_id": 1, "dial": [task_turn(" ")]}, "'transcript_complete'.*turn 1: the text is empty"),
            ({"dialogue_id": 1, "dial": [{"usr": {}, "sys": {}}]}, "turn 1: the key is missing"),
        ],
    )
    def test_bad_dialogues(self, tmp_path, dialogue, reason):
        path = write_json(tmp_path / "task.json", [{"dialogue_id": 0, "dial": [task_turn("a")]}, dialogue])
        refused(lambda rejects: read_task(path, "train", rejects=rejects), reason, path, 1)


class TestCanard:
    def test_history_with_titles(self, tmp_path):
        record = {
            "History": ["Page", "Section", "Who?", "She."],
            "QuAC_dialog_id": "C_1_0",
            "Question": "Why?",
            "Rewrite": "Why she?",
        }
        (example,) = read_canard(write_json(tmp_path / "test.json", [record]))
        assert example.dialogue.history == (
            Turn("Page"), Turn("Section"), Turn("Who?", "user"), Turn("She.", "assistant"),
        )  # fmt: skip
        assert (example.dialogue.utterance, example.rewrite, example.dialogue_id) == ("Why?", "Why she?", "C_1_0")

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"History": "x"}, "'History'.*expected a list"),
            ({"History": [1]}, r"'History\[0\]'.*expected text"),
            ({"Question": ""}, "'Question'.*the text is empty"),
            ({"Rewrite": None}, "'Rewrite'.*expected text, found null"),
            ({"QuAC_dialog_id": " "}, "'QuAC_dialog_id'.*the text is empty"),
        ],
    )
    def test_bad_records(self, tmp_path, change, reason):
        good = {"History": ["P", "S"], "QuAC_dialog_id": "C_1_0", "Question": "Why?", "Rewrite": "Why?"}
        path = write_json(tmp_path / "test.json", [good, {**good, **change}])
        refused(lambda rejects: read_canard(path, rejects=rejects), f"{reason}", path, 1)

    def test_reduced_history_is_the_earlier_rewrites(self, tmp_path):
        questions = write(tmp_path / "q.tsv", "C_1_0_q#0\tq0", "C_2_0_q#0\tother", "C_1_0_q#2\tq2", "C_1_0_q#1\tq1")
        rewrites = write(tmp_path / "r.tsv", "C_1_0_q#0\tr0", "C_2_0_q#0\tother", "C_1_0_q#2\tr2", "C_1_0_q#1\tr1")
        examples = read_reduced(questions, rewrites)
        assert [texts(example) for example in examples] == [
            ([], "q0", "r0"),
            ([], "other", "other"),
            (["r0", "r1"], "q2", "r2"),
            (["r0"], "q1", "r1"),
        ]
        assert [example.dialogue_id for example in examples] == ["C_1_0", "C_2_0", "C_1_0", "C_1_0"]

    @pytest.mark.parametrize(
        ("question", "rewrite", "reason", "file"),
        [
            ("C_1_0_q#1", "C_1_0_q#1\tr", "expected 2 columns", "q.tsv"),
            ("C_1_0\tq", "C_1_0_q#1\tr", "expected an id such as", "q.tsv"),
            ("C_1_0_q#1\t", "C_1_0_q#1\tr", "the text is empty", "q.tsv"),
            ("C_1_0_q#1\tq", "C_1_0_q#1\t ", "the text is empty", "r.tsv"),
            ("C_1_0_q#1\tq", "C_1_0_q#2\tr", "expected the id C_1_0_q#1 of q.tsv, found C_1_0_q#2", "r.tsv"),
            ("C_1_0_q#0\tq", "C_1_0_q#0\tr", "occurs twice", "r.tsv"),
        ],
    )
    def test_bad_reduced_lines(self, tmp_path, question, rewrite, reason, file):
        questions = write(tmp_path / "q.tsv", "C_1_0_q#0\tq0", question)
        rewrites = write(tmp_path / "r.tsv", "C_1_0_q#0\tr0", rewrite)
        refused(lambda rejects: read_reduced(questions, rewrites, rejects=rejects), reason, tmp_path / file, 2)

    def test_reduced_files_of_different_length(self, tmp_path):
        questions, rewrites = write(tmp_path / "q.tsv", "C_1_0_q#0\tq0"), write(tmp_path / "r.tsv")
        refused(lambda rejects: read_reduced(questions, rewrites, rejects=rejects), "0 lines for the 1", rewrites, None)

    def test_the_official_train_part_comes_before_the_reduced_one(self, tmp_path, no_data_elsewhere):
        folder = tmp_path / "canard"
        write(folder / "train_reduced" / "train.question.tsv", "C_1_0_q#0\tq")
        write(folder / "train_reduced" / "train.rewrite.tsv", "C_1_0_q#0\tr")
        assert texts(load_corpus("canard", "train", mirror=tmp_path)[0]) == ([], "q", "r")
        record = {"History": ["P", "S"], "QuAC_dialog_id": "C_1_0", "Question": "Q", "Rewrite": "R"}
        write_json(folder / "train.json", [record])
        assert texts(load_corpus("canard", "train", mirror=tmp_path)[0]) == (["P", "S"], "Q", "R")


class TestQrecc:
    def test_conversations(self):
        assert parse_conversation("Q: Who? A: She.\nQ: Why A: B? A: Q: is a letter.") == (
            Turn("Who?", "user"),
            Turn("She.", "assistant"),
            Turn("Why", "user"),
            Turn("B? A: Q: is a letter.", "assistant"),
        )
        assert parse_conversation("") == ()

    def test_unknown_answers_are_left_out(self, tmp_path):
        assert parse_conversation("Q: Who? A: .\nQ: Why? A: ") == (Turn("Who?", "user"), Turn("Why?", "user"))
        record = {"Conversation_no": 7, "NewContext": ["Who?", ""], "Question": "Why?", "Truth_rewrite": "Why she?"}
        (example,) = read_development(write_json(tmp_path / "dev.json", [record]))
        assert example.dialogue.history == (Turn("Who?", "user"),)
        assert example.dialogue_id == "qrecc:7"

    def test_conversations_with_one_opening_are_one(self, tmp_path):
        rows = [
            {"conversation": "", "question": "Who was she?", "label": "Who was she?"},
            {"conversation": "Q: who was She? A: A singer.", "question": "When?", "label": "When was she?"},
        ]
        path = write(tmp_path / "sample.jsonl", *map(json.dumps, rows))
        examples = read_sample(path, "train") + read_sample(path, "validation")
        assert {example.dialogue_id for example in examples} == {"qrecc:who was she?"}

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ('{"conversation": "", "question": "Why?"}', "'label'.*the key is missing"),
            ('{"conversation": "", "question": " ", "label": "x"}', "'question'.*the text is empty"),
            ('{"conversation": "Who? She.", "question": "Why?", "label": "x"}', "'conversation'.*line 1 of the text"),
            ('{"conversation": "Q: Who? A: She.\\nand", "question": "Why?", "label": "x"}', "line 2 of the text"),
            ('{"conversation": "Q: Who?', "not valid JSON"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, reason):
        good = json.dumps({"conversation": "", "question": "Who?", "label": "Who?"})
        path = write(tmp_path / "sample.jsonl", good, line)
        refused(lambda rejects: read_sample(path, "train", rejects=rejects), reason, path, 2)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"Conversation_no": None}, "'Conversation_no'.*expected a whole number, found null"),
            ({"NewContext": None}, "'NewContext'.*expected a list"),
            ({"Truth_rewrite": ""}, "'Truth_rewrite'.*the text is empty"),
        ],
    )
    def test_bad_items(self, tmp_path, change, reason):
        good = {"Conversation_no": 7, "NewContext": [], "Question": "Why?", "Truth_rewrite": "Why she?"}
        path = write_json(tmp_path / "dev.json", [{**good, **change}])
        refused(lambda rejects: read_development(path, rejects=rejects), reason, path, 1)


class TestJsonl:
    def test_history_and_messages(self, tmp_path):
        path = write(
            tmp_path / "data.jsonl",
            '{"history": ["a", {"role": "user", "content": "b"}], "utterance": "c", "rewrite": "d", "dialogue_id": 1}',
            '{"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": "c"}], "rewrite": "d"}',
        )
        first, second = read_jsonl(path)
        assert first == Example(Dialogue((Turn("a"), Turn("b", "user")), "c"), "d", "1")
        assert texts(second) == ([""], "c", "d")  # what does not speak keeps its place

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ('{"history": [], "utterance": "c"}', "'rewrite'.*the key is missing"),
            ('{"history": [], "rewrite": "c"}', "'utterance'.*the key is missing"),
            ('{"utterance": "b", "rewrite": "c"}', "'history'.*the key is missing"),
            ('{"history": [], "utterance": " ", "rewrite": "c"}', "the utterance is empty"),
            ('{"history": [1], "utterance": "b", "rewrite": "c"}', r"history\[0\]"),
            ('{"history": [], "utterance": "b", "rewrite"', "not valid JSON"),
            ("", "not valid JSON"),
        ],
    )
    def test_bad_lines(self, tmp_path, line, reason):
        good = '{"history": [], "utterance": "b", "rewrite": "c"}'
        path = write(tmp_path / "data.jsonl", good, line, good)
        refused(lambda rejects: read_jsonl(path, rejects=rejects), reason, path, 2)

    @given(
        st.lists(
            st.builds(
                Example,
                st.builds(
                    Dialogue,
                    st.lists(st.builds(Turn, st.text(), st.sampled_from([None, "user", "assistant"]))).map(tuple),
                    st.text(st.characters(), min_size=1).filter(str.strip),
                ),
                st.text(st.characters(), min_size=1).filter(str.strip),
                st.text(),
            ),
            min_size=1,
        ),
        st.sampled_from(["data.jsonl", "data.jsonl.gz"]),
    )
    def test_what_is_written_is_read_back(self, tmp_path_factory, examples, name):
        path = tmp_path_factory.mktemp("jsonl") / name
        with atomic_writer(path) as stream:
            write_jsonl(examples, stream)
        assert read_jsonl(path) == examples

    def test_a_file_without_examples(self, tmp_path):
        with pytest.raises(BadInputError, match=r"none\.jsonl: holds no example$"):
            read_jsonl(write(tmp_path / "none.jsonl"))
        rejects = Rejects()
        with pytest.raises(BadInputError, match=r"bad\.jsonl: holds no example besides 2 bad ones$"):
            read_jsonl(write(tmp_path / "bad.jsonl", "{}", "x"), rejects=rejects)
        assert len(rejects) == 2


class TestCatalogue:
    @pytest.mark.parametrize(
        ("corpus", "file", "content"),
        [
            ("rewrite", "rewrite/corpus.txt", "一\t\t二\t\t问\t\t好问\n"),
            ("multi", "multi/test.txt", ""),
            ("task", "task/CamRest676_annotated.json", "[]"),
            ("canard", "canard/test.json", " [ ] "),
        ],
    )
    def test_a_part_without_examples(self, tmp_path, no_data_elsewhere, corpus, file, content):
        path = write(tmp_path / file, content)
        path.write_text(content, encoding="utf-8")
        with pytest.raises(BadInputError, match="holds no example of the test part") as caught:
            load_corpus(corpus, "test", mirror=tmp_path)
        assert caught.value.file == str(path)

    @pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz", "folder/mine", "./canard"])
    def test_names_that_are_files(self, name):
        assert example_file(name) == Path(name)

    def test_names_that_are_corpora(self):
        assert [example_file(name) for name in CORPORA] == [None] * len(CORPORA)
        with pytest.raises(BadInputError, match="no corpus is called 'mine'"):
            example_file("mine")

    def test_unknown_names_list_the_known_ones(self):
        with pytest.raises(BadInputError, match=r"'quac'.*rewrite, multi, task, canard, qrecc"):
            load_corpus("quac", "test")
        with pytest.raises(BadInputError, match=r"'dev'.*train, validation, test"):
            load_corpus("canard", "dev")
        with pytest.raises(BadInputError, match=r"'half'.*full, two-turn"):
            load_corpus("canard", "test", context="half")  # type: ignore[arg-type]

    @pytest.mark.parametrize("corpus", CORPORA)
    def test_a_missing_file_names_itself_and_the_command(self, corpus, no_data_elsewhere):
        with pytest.raises(DataUnavailableError, match=rf"{corpus}/.*run: urewrite data fetch {corpus}"):
            load_corpus(corpus, "test")

    def test_what_cannot_be_fetched_says_so(self, no_data_elsewhere):
        with pytest.raises(DataUnavailableError, match=r"multi/train\.txt or .*has no public address"):
            load_corpus("multi", "train")

    def test_mirror_then_variable_then_cache(self, tmp_path, no_data_elsewhere, monkeypatch):
        def place(folder: Path, word: str) -> Path:
            write(folder / "multi" / "test.txt", f"a\tb\tc\td\t{word}\t回\t0\t")
            return folder

        def word(mirror: Path | None = None) -> str:
            return load_corpus("multi", "test", mirror=mirror)[0].rewrite

        place(no_data_elsewhere, "cache")
        assert word() == "cache"
        monkeypatch.setenv("UREWRITE_DATA", str(place(tmp_path / "named", "named")))
        assert word() == "named"
        assert word(place(tmp_path / "given", "given")) == "given"

    def test_a_mirror_that_is_not_there(self, tmp_path, monkeypatch):
        with pytest.raises(DataUnavailableError, match="absent is not a folder"):
            load_corpus("task", "test", mirror=tmp_path / "absent")
        monkeypatch.setenv("UREWRITE_DATA", str(tmp_path / "gone"))
        with pytest.raises(DataUnavailableError, match="gone named by UREWRITE_DATA is not a folder"):
            load_corpus("task", "test")

    def test_two_turn_context(self, tmp_path):
        write_json(
            tmp_path / "task" / "CamRest676_annotated.json",
            [{"dialogue_id": 600, "dial": [task_turn("a"), task_turn("b"), task_turn("c", "it")]}],
        )
        histories = [texts(example)[0] for example in load_corpus("task", "test", mirror=tmp_path, context="two-turn")]
        assert histories == [[], ["a", "OK."], ["b", "OK."]]
