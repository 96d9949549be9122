from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from urewrite.token_exceptions import ABBREVIATIONS, CUTS
from urewrite.tokens import _matched, _pattern, tokenize

BLANK = regex.compile(r"[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]*+")
ANY_TEXT = st.text(st.characters())
PIECES = (
    *"中文々〇のカーㅤ’%$-.…,?()@#&+*/_`aIé\u0301👍🏽🇩 \n\t\x00\u00ad\u0600",
    *"\u200b\u200c\u200d\u3000\ufe0f\ufeff\ud83d\udc4d",
    *("한국어", "ไทย", "मैं", "можно", "U.S.", "Dr.", "n't", "'s", "can't", "cannot", "dont", "10", "1,000", "am", "US$"),
    *("--", "...", "http://", "www.", ".com", "👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3"),
)
MIXED_TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)

# Each text is given as its expected tokens, separated by "|"; blanks between tokens are part of the text.
EXPECTED = {
    "contractions": [
        ("can't won't didn't CAN'T", "ca|n't|wo|n't|did|n't|CA|N'T"),
        ("can’t Kobe’s I’m", "ca|n’t|Kobe|’s|I|’m"),
        ("Kobe's players' they'd we'll you're", "Kobe|'s|players|'|they|'d|we|'ll|you|'re"),
        ("couldn't've who'd've", "could|n't|'ve|who|'d|'ve"),
        ("cannot Cannot gonna y'all", "can|not|Can|not|gon|na|y'|all"),
        ("dont Didnt im whats", "do|nt|Did|nt|i|m|what|s"),
        ("its well were here id shed wed", "its|well|were|here|id|shed|wed"),
        ("O'Brien rock'n'roll o'clock ma'am", "O'Brien|rock'n'roll|o'clock|ma'am"),
        ("lovin' nothin' 'cause", "lovin'|nothin'|'cause"),
        ("the 1990's in the '90s", "the|1990|'s|in|the|'|90s"),
    ],
    "pre-tokenised text stays": [
        ("did n't kobe 's ca n't u.s. do nt j. dr.", "did|n't|kobe|'s|ca|n't|u.s.|do|nt|j.|dr."),
        ("10 am , 10 % us$ 5 29-year - old", "10|am|,|10|%|us$|5|29-year|-|old"),
    ],
    "punctuation": [
        ('He said: "yes!" (really?)', 'He|said|:|"|yes|!|"|(|really|?|)'),
        ("'quoted' ''twice''", "'|quoted|'|'|'|twice|'|'"),
        ("“a” «b» ¿c?", "“|a|”|«|b|»|¿|c|?"),
        ("wait... what....now a…b", "wait|...|what|....|now|a|…|b"),
        ("well-known time–trial one--two", "well|-|known|time|–|trial|one|--|two"),
        ("and/or AC/DC his/her w/o", "and/or|AC|/|DC|his|/|her|w/o"),
        ("the end.The next", "the|end|.|The|next"),
        ("red,blue;green", "red|,|blue|;|green"),
    ],
    "abbreviations": [
        ("Dr. J. K. Rowling, Mr. Smith Jr. vs. St. Paul", "Dr.|J.|K.|Rowling|,|Mr.|Smith|Jr.|vs.|St.|Paul"),
        ("in the U.S. at 5 p.m., i.e. J.R.R. or Ph.D.", "in|the|U.S.|at|5|p.m.|,|i.e.|J.R.R.|or|Ph.D."),
        ("It ended. On TV. In May.", "It|ended|.|On|TV|.|In|May|."),
        ("É. e\u0301.", "É.|e\u0301."),
    ],
    "numbers": [
        ("$5 10% 1,000.50 US$20 €3.50", "$|5|10|%|1,000.50|US$|20|€|3.50"),
        ("1999-2000 1-800-555 2005/06 9/11 12:30", "1999|-|2000|1|-|800|-|555|2005/06|9/11|12:30"),
        ("10am 10:30PM 5a.m. 5'9", "10|am|10:30|PM|5|a.m.|5'9"),
        ("60kg 5G 1990s 20th", "60kg|5G|1990s|20th"),
        ("in 2008. It rose 3.", "in|2008|.|It|rose|3|."),
        ("-5 +3 .289 50+", "-5|+3|.289|50|+"),
        ("m² H₂O 2½ ①②", "m²|H₂O|2½|①|②"),
    ],
    "identifiers": [
        ("iPhone-X100 RTX-4090 A1-B2 x86-64 S01-02-03", "iPhone-X100|RTX-4090|A1-B2|x86-64|S01-02-03"),
        ("F-16 covid-19 15-year 29-year-old 20th-century", "F-16|covid-19|15-year|29-year|-|old|20th|-|century"),
        ("snake_case_name __init__ _it_", "snake_case_name|_|_|init|_|_|_|it|_"),
        ("foo.py v2.0.1 Node.js", "foo.py|v2.0.1|Node.js"),
        ("C++ C# c++, F#.", "C++|C#|c++|,|F#|."),
        ("#hashtag @user @user_name", "#|hashtag|@user|@user_name"),
        ("R&B AT&T Ke$ha M*A*S*H f***ing", "R&B|AT&T|Ke$ha|M*A*S*H|f***ing"),
    ],
    "addresses": [
        ("see https://a.com/b?c=d#e. (www.foo.org)", "see|https://a.com/b?c=d#e|.|(|www.foo.org|)"),
        ("a.b-c@x-y.co.uk, me@foo.com.", "a.b-c@x-y.co.uk|,|me@foo.com|."),
        ("amazon.com, foo.com/bar/baz.html", "amazon.com|,|foo.com/bar/baz.html"),
        ("看http://t.cn/abc吧,联系abc@x.com吧", "看|http://t.cn/abc|吧|,|联|系|abc@x.com|吧"),
    ],
    "CJK by character": [
        ("你玩dota2吗", "你|玩|dota2|吗"),
        ("身高186cm，C语言", "身|高|186cm|，|C|语|言"),
        ("人々〇𠮷㐀", "人|々|〇|𠮷|㐀"),
        ("ラーメンとｶﾞｽ", "ラ|ー|メ|ン|と|ｶﾞ|ｽ"),
        ("葛\U000e0100か\u3099", "葛\U000e0100|か\u3099"),
        ("好。。。是的……", "好|。|。|。|是|的|…|…"),
        ("ＡＢ１２", "ＡＢ１２"),
    ],
    "other scripts": [
        ("한국어 문장.", "한국어|문장|."),
        ("สวัสดี", "ส|วั|ส|ดี"),
        ("ນ້ຳ ភាសា မြန်", "ນ້ຳ|ភា|សា|မြ|န်"),
        ("हिन्दी में, Привет العربية עברית", "हिन्दी|में|,|Привет|العربية|עברית"),
        ("می\u200cخواهم cafe\u0301 naïve", "می\u200cخواهم|cafe\u0301|naïve"),
    ],
    "emoji": [
        ("👨\u200d👩\u200d👧👍🏽❤\ufe0f1\ufe0f\u20e3", "👨\u200d👩\u200d👧|👍🏽|❤\ufe0f|1\ufe0f\u20e3"),
        ("🇩🇪🇫🇷🇩", "🇩🇪|🇫🇷|🇩"),
        ("ok👍👍", "ok|👍|👍"),
    ],
    "blanks": [
        ("a\u200bb\x00c\ufeffd\u3000e\u00a0f\r\ng", "a|b|c|d|e|f|g"),
        ("co\u00adop x\u00ad \u200dy \ufe0fz aㅤb", "co\u00adop|x|y|z|a|b"),
        ("\ud83d\udc4dx", "\ud83d|\udc4d|x"),
        ("", ""),
        (" \u200b\n", ""),
    ],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [pytest.param(*case, id=f"{rule} {index}") for rule, cases in EXPECTED.items() for index, case in enumerate(cases)],
)
def test_examples(text, expected):
    assert list(tokenize(text).words) == (expected.split("|") if expected else [])


def test_keys_are_lower_case():
    tokens = tokenize("Kobe's U.S.")
    assert tokens.keys == ("kobe", "'s", "u.s.")
    assert len(tokens) == 3


def check_nothing_is_lost(text: str) -> None:
    tokens = tokenize(text)
    assert tokens.text == text
    assert len(tokens) == len(tokens.words) == len(tokens.starts) == len(tokens.ends)
    position = 0
    for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
        assert position <= start < end
        assert text[start:end] == word
        assert not any(character.isspace() for character in word)
        assert BLANK.fullmatch(text, position, start)
        assert not BLANK.fullmatch(word[0])
        position = end
    assert BLANK.fullmatch(text, position)


@given(ANY_TEXT)
def test_nothing_of_any_text_is_lost(text):
    check_nothing_is_lost(text)


@given(MIXED_TEXT)
def test_nothing_of_mixed_text_is_lost(text):
    check_nothing_is_lost(text)


@pytest.mark.parametrize(
    "pattern",
    [
        *("a", "1", "-", "'", "_", "中", "ก", "\x00", "\u0301", "\u200d", "🇩", "👨\u200d", "!\u0301"),
        *(
            "a-",
            "a.",
            "a'",
            "a*",
            "a%",
            "a+",
            "A.",
            "1,",
            "1-",
            "a\u200d",
            "a-a1",
            "a1-",
            "a@a.",
            "%a@",
            "n't",
            "cannot",
        ),
        *("http://!", "www.!", ".com/"),
    ],
)
def test_time_is_linear(pattern):
    text = (pattern * 200_000)[:200_000] + "@"
    start = time.process_time()
    tokenize(text)
    assert time.process_time() - start < 2


def canard_fields(folder: Path) -> list[tuple[str, list[str], bool]]:
    """Every text of the test part, its tokens in the paper's scheme, and whether it is a question or a rewrite."""
    entries = json.loads((folder / "canard" / "test.json").read_text(encoding="utf-8"))
    lines = (folder / "canard" / "tokenised" / "CANARD_test.txt").read_text(encoding="utf-8").splitlines()
    return [
        (text, field.split(), index < 2)
        for entry, line in zip(entries, lines, strict=True)
        for index, (text, field) in enumerate(
            zip([entry["Rewrite"], entry["Question"], *entry["History"]], rotated(line), strict=True)
        )
    ]


def rotated(line: str) -> list[str]:
    *history, question, rewrite = line.split("\t\t")
    return [rewrite, question, *history]


def spans(words: list[str]) -> set[tuple[int, int]]:
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return set(pairwise(ends))


def test_canard_is_split_as_for_the_paper(corpora_dir):
    same = total = same_lines = lines = again = 0
    fields = canard_fields(corpora_dir)
    for text, theirs, is_question_or_rewrite in fields:
        ours = list(tokenize(text).keys)
        same += len(spans(ours) & spans(theirs))
        total += max(len(ours), len(theirs))
        lines += is_question_or_rewrite
        same_lines += is_question_or_rewrite and ours == theirs
        again += list(tokenize(" ".join(theirs)).words) == theirs
        assert list(tokenize(" ".join(ours)).words) == ours
    assert same / total >= 0.999
    assert same_lines / lines >= 0.997
    assert again / len(fields) >= 0.997


def test_rewrite_is_split_by_characters_and_runs(corpora_dir):
    scheme = re.compile("[\u4e00-\u9fa5]|[A-Za-z0-9]+|\\S")
    lines = (corpora_dir / "rewrite" / "corpus.txt").read_text(encoding="utf-8").splitlines()
    differing = [line for line in lines if list(tokenize(line).words) != scheme.findall(line)]
    # The paper's scheme, jieba taken apart, differs from this one in 15 lines; together no more than 20 may.
    assert len(lines) == 20_000
    assert len(differing) <= 5


CHUNK = st.builds(
    "".join,
    st.tuples(
        st.sampled_from([*ABBREVIATIONS, "DR", "it", "x", "Rome", "7", "1984", "3rd"]), st.text(".,?!)", max_size=2)
    ),
)


@given(
    st.text(st.characters(max_codepoint=127))
    | st.text(st.sampled_from("aB9 .,?!)('-@$/&"))
    | st.lists(CHUNK).map(" ".join)
)
def test_ascii_text_is_split_as_by_the_pattern_alone(text):
    words = [match.group() for match in _pattern().finditer(text)]
    assume(CUTS.keys().isdisjoint(words))
    assert list(tokenize(text).words) == words


@given(ANY_TEXT | MIXED_TEXT)
def test_words_are_compared_in_lower_case(text):
    tokens = tokenize(text)
    assert tokens.keys == tuple(word.lower() for word in tokens.words)


@given(st.text(st.sampled_from("北京天气一龥鿿"), min_size=1, max_size=20))
def test_only_han_is_split_like_any_other_text(text):
    assert tokenize(text).words == tokenize(text + "?").words[:-1] == tuple(text)
    assert tokenize(text).starts == tokenize(text + "?").starts[:-1]
    assert tokenize(text).ends == tokenize(text + "?").ends[:-1]


@given(st.text(st.sampled_from("北京天气怎么样他一龥，。？！、；：")))
def test_chinese_that_is_told_without_the_pattern_is_what_it_finds(text):
    found = tokenize(text)
    assert (list(found.words), list(found.starts), list(found.ends)) == _matched(text, 0, len(text))
