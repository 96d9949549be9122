"""The literal prompts of frameworks, filled as they fill them, read back."""

from __future__ import annotations

import time

import pytest

from urewrite.serve.condense import read_chat

QUESTION = "When was he born?"
TURNS = [("user", "Who wrote Dune?"), ("assistant", "Frank Herbert.\nHe wrote it in 1965.")]

LANGCHAIN = """\
Given the following conversation and a follow up question, rephrase the follow up question \
to be a standalone question, in its original language.

Chat History:
{chat_history}
Follow Up Input: {question}
Standalone question:"""

LANGCHAIN_HUB = """\
Given the following conversation and a follow up question, rephrase the follow up question \
to be a standalone question.

Chat History:
{chat_history}
Follow Up Input: {question}
Standalone Question:"""

LLAMA_CONDENSE = """\
Given a conversation (between Human and Assistant) and a follow up message from Human, \
rewrite the message to be a standalone question that captures all relevant context \
from the conversation.

<Chat History>
{chat_history}

<Follow Up Message>
{question}

<Standalone question>
"""

LLAMA_PLUS = """
  Given the following conversation between a user and an AI assistant and a follow up question from user,
  rephrase the follow up question to be a standalone question.

  Chat History:
  {chat_history}
  Follow Up Input: {question}
  Standalone question:"""

RAGFLOW = """## Role
A helpful assistant.

## Task & Steps
1. Generate a full user question that would follow the conversation.
2. If the user's question involves relative dates, convert them into absolute dates based on today (2026-11-16).
   - "yesterday" = 2026-11-15, "tomorrow" = 2026-11-17

## Requirements & Restrictions
- If the user's latest question is already complete, don't do anything — just return the original question.
- DON'T generate anything except a refined question.
- Text generated MUST be in the same language as the original user's question.

---

## Examples

### Example 1
**Conversation:**

USER: What is the name of Donald Trump's father?
ASSISTANT: Fred Trump.
USER: And his mother?

**Output:** What's the name of Donald Trump's mother?

---

## Real Data

**Conversation:**

{conversation}

"""

RAGFLOW_BEFORE = """
Role: A helpful assistant

Task and steps:
    1. Generate a full user question that would follow the conversation.
    2. If the user's question involves relative date, you need to convert it into absolute date.

######################
-Examples-
######################

# Example 1
## Conversation
USER: What is the name of Donald Trump's father?
ASSISTANT:  Fred Trump.
USER: And his mother?
###############
Output: What's the name of Donald Trump's mother?

######################
# Real Data
## Conversation
{conversation}
###############
    """


def said(turns, names, separator="\n"):
    return separator.join(f"{names[role]}: {text}" for role, text in turns)


def one_message(text, role="user"):
    return [{"role": role, "content": text}]


HUMAN = {"user": "Human", "assistant": "Assistant"}
BUFFER = {"user": "Human", "assistant": "AI"}
SMALL = {"user": "user", "assistant": "assistant"}
LARGE = {"user": "USER", "assistant": "ASSISTANT"}
PRINTED = (
    "[HumanMessage(content='Who wrote Dune?', additional_kwargs={}, response_metadata={}), "
    'AIMessage(content="Frank Herbert.\\nHe wrote it in 1965.", additional_kwargs={}, response_metadata={})]'
)
FILLED = {
    "langchain": one_message(LANGCHAIN.format(chat_history="\n" + said(TURNS, HUMAN), question=QUESTION)),
    "langchain, its buffer": one_message(LANGCHAIN.format(chat_history=said(TURNS, BUFFER), question=QUESTION)),
    "langchain, its hub": one_message(LANGCHAIN_HUB.format(chat_history=PRINTED, question=QUESTION)),
    "langchain, behind a system message": [
        {"role": "system", "content": "You are a helpful assistant."},
        *one_message([{"type": "text", "text": LANGCHAIN.format(chat_history=said(TURNS, HUMAN), question=QUESTION)}]),
    ],
    "llama_index": one_message(LLAMA_CONDENSE.format(chat_history=said(TURNS, SMALL), question=QUESTION)),
    "llama_index, plus context": one_message(LLAMA_PLUS.format(chat_history=said(TURNS, SMALL), question=QUESTION)),
    "ragflow": [
        *one_message(RAGFLOW.format(conversation=said([*TURNS, ("user", QUESTION)], LARGE)), "system"),
        *one_message("Output: "),
    ],
    "ragflow, before": [
        *one_message(RAGFLOW_BEFORE.format(conversation=said([*TURNS, ("user", QUESTION)], LARGE)), "system"),
        *one_message("Output: "),
    ],
}


@pytest.mark.parametrize("name", FILLED)
def test_a_prompt_holds_its_dialogue(name):
    dialogue, prompt = read_chat(FILLED[name])
    assert prompt == name.partition(",")[0]
    assert [(turn.role, turn.text) for turn in dialogue.history] == TURNS
    assert dialogue.utterance == QUESTION


def test_messages_with_an_instruction_are_plain():
    """What `create_history_aware_retriever` sends: the instruction is a system message."""
    instruction = "Given a chat history and the latest user question ..., formulate a standalone question"
    messages = [{"role": "system", "content": instruction}]
    messages += [{"role": role, "content": text} for role, text in (*TURNS, ("user", QUESTION))]
    dialogue, prompt = read_chat(messages)
    assert (prompt, dialogue.utterance) == ("plain", QUESTION)
    assert [turn.text for turn in dialogue.history[1:]] == [text for _, text in TURNS]


def test_an_instruction_at_the_end_is_no_question():
    messages = [{"role": role, "content": text} for role, text in (*TURNS, ("user", QUESTION))]
    last = "Given the above conversation, generate a search query to look up to get information relevant to it"
    dialogue, prompt = read_chat([*messages, {"role": "user", "content": last}])
    assert (prompt, dialogue.utterance, len(dialogue.history)) == ("langchain", QUESTION, 2)


def test_an_empty_history():
    dialogue, prompt = read_chat(one_message(LANGCHAIN.format(chat_history="", question=QUESTION)))
    assert (prompt, dialogue.history, dialogue.utterance) == ("langchain", (), QUESTION)


def test_chinese():
    turns = [("user", "谁写了沙丘"), ("assistant", "弗兰克")]
    dialogue, _ = read_chat(one_message(LLAMA_PLUS.format(chat_history=said(turns, SMALL), question="他何时出生")))
    assert [turn.text for turn in dialogue.history] == ["谁写了沙丘", "弗兰克"]
    assert dialogue.utterance == "他何时出生"


@pytest.mark.parametrize(
    "text",
    [
        "Rephrase this: Follow Up Input: x\nStandalone question:",
        LANGCHAIN.format(chat_history="Human: a", question=QUESTION) + "\nThank you",
        LANGCHAIN.format(chat_history="Human: a", question="  "),
        "Generate a full user question that would follow the conversation. And then?",
    ],
)
def test_what_only_looks_like_a_prompt_is_left_alone(text):
    dialogue, prompt = read_chat(one_message(text))
    assert (prompt, dialogue.utterance) == ("plain", text)


@pytest.mark.parametrize(
    "text",
    [
        LANGCHAIN.format(chat_history="Follow Up Input: " * 60_000, question=""),
        LANGCHAIN.format(chat_history="\nHuman: " * 100_000, question="x"),
        LANGCHAIN.format(chat_history="[" + "HumanMessage(content='\\" * 40_000, question="x"),
        LANGCHAIN.format(chat_history="[HumanMessage(content='\\x1'), AIMessage(content='\\ud800')]", question="x"),
        RAGFLOW.format(conversation="USER: " + "\n#####" * 150_000),
        RAGFLOW.format(conversation="## Real Data " * 80_000),
    ],
)
def test_hostile_prompts_take_no_time(text):
    began = time.process_time()
    dialogue, _ = read_chat(one_message(text))
    assert time.process_time() - began < 2
    dialogue.utterance.encode()
    for turn in dialogue.history:
        turn.text.encode()
