/** What came of a dialogue: the text with its edits, why it is so, how sure, and how long it took. */

import { counted, element, joined, nameLanguage, percent, slice, tell } from "./text.js";

/**
 * @typedef {import("./api.js").Answer} Answer
 * @typedef {import("./api.js").Edit} Edit
 * @typedef {import("./api.js").Region} Region
 */

const MOST_DROPPED = 4;
const REASONS = {
  rewritten: "Rewritten with words of the dialogue.",
  self_contained: "Left as it is: it stands on its own.",
  low_confidence: "Left as it is: edits were found, but none is sure enough.",
  no_history: "Left as it is: there is nothing before it to copy from.",
  never: "Left as it is: rewriting is switched off.",
  error: "Left as it is: something failed inside the service, and its log says what.",
};
const VERBS = { insert: "inserted", substitute: "substituted" };

/**
 * The region of the grid each edit comes from, if the grid is there.
 * @param {Answer} answer
 * @returns {(number | null)[]} places in `grid.regions`
 */
export function regionsOf(answer) {
  const taken = new Set();
  return answer.edits.map((edit) => {
    const found = (answer.grid?.regions ?? []).findIndex(
      (region, number) =>
        region.made &&
        !taken.has(number) &&
        region.op === edit.op &&
        region.score === edit.score &&
        answer.grid.row_turns.slice(region.top, region.bottom).includes(edit.source_turn),
    );
    taken.add(found);
    return found < 0 ? null : found;
  });
}

export class Result {
  /** @type {HTMLElement[]} */
  #edits = [];
  /** @type {HTMLElement[]} */
  #items = [];
  #parts;
  #listeners;

  /**
   * @param {Record<"card" | "text" | "reason" | "edits" | "facts" | "notes" | "announcement", HTMLElement>} parts
   * @param {{activated: (edit: number | null) => void, opened: (edit: number) => void}} listeners
   */
  constructor(parts, listeners) {
    this.#parts = parts;
    this.#listeners = listeners;
  }

  /**
   * @param {Answer} answer
   * @param {number} roundTrip milliseconds
   */
  show(answer, roundTrip) {
    const { card, reason, facts, notes, announcement } = this.#parts;
    card.dataset.state = answer.changed ? "changed" : "same";
    this.settle();
    this.#showText(answer);
    reason.textContent = REASONS[answer.reason] ?? answer.reason;
    this.#showEdits(answer);
    facts.replaceChildren(...factsOf(answer, roundTrip));
    notes.replaceChildren(...answer.notes.map((note) => element("li", "", sentence(note))));
    const said = answer.changed ? `Rewritten with ${counted(answer.edits.length, "edit")}:` : "Not changed:";
    tell(announcement, `${said} ${answer.text}`);
  }

  /** There is nothing to rewrite yet. */
  showNothing() {
    const { card, text, reason, edits, facts, notes, announcement } = this.#parts;
    card.dataset.state = "empty";
    this.settle();
    text.textContent = "";
    this.#edits = [];
    this.#items = [];
    for (const part of [edits, facts, notes]) {
      part.replaceChildren();
    }
    announcement.textContent = "";
    reason.textContent = "Write what is said last. It is rewritten as you type.";
  }

  /** What is shown belongs to an earlier dialogue; a new answer may be on its way. */
  wait() {
    this.#parts.card.classList.add("stale");
    this.#parts.card.setAttribute("aria-busy", "true");
  }

  /** There will be none; what is shown, if anything, stays the earlier one's. */
  showNoAnswer() {
    const { card, reason } = this.#parts;
    card.classList.add("stale");
    card.removeAttribute("aria-busy");
    if (card.dataset.state === "empty") {
      reason.textContent = "There is no answer yet.";
    }
  }

  /** No answer is on its way. */
  settle() {
    this.#parts.card.classList.remove("stale");
    this.#parts.card.removeAttribute("aria-busy");
  }

  /**
   * Show which edits are looked at.
   * @param {number[]} edits
   */
  highlight(edits) {
    for (const list of [this.#edits, this.#items]) {
      list.forEach((one, number) => one.classList.toggle("hot", edits.includes(number)));
    }
  }

  /**
   * The words of an edit in the text.
   * @param {number} edit
   * @returns {HTMLElement}
   */
  words(edit) {
    return this.#edits[edit];
  }

  #showText(answer) {
    const { text } = this.#parts;
    this.#edits = [];
    const parts = answer.pieces.map((piece) => {
      const words = slice(answer.text, piece.start, piece.end);
      const copied = piece.origin === "history" || piece.origin === "connection";
      return copied ? this.#edit(answer.edits[this.#edits.length], words) : document.createTextNode(words);
    });
    text.replaceChildren(...parts);
    nameLanguage(text, answer.text);
  }

  /** One such piece for each edit, in their order. */
  #edit(edit, words) {
    const number = this.#edits.length;
    const shown = element("span", `edit ${edit.op}`, words);
    shown.tabIndex = 0;
    shown.setAttribute("role", "button");
    shown.setAttribute("aria-label", `${words}, ${VERBS[edit.op]}, ${sourceOf(edit)}`);
    shown.dataset.number = String(number + 1);
    shown.addEventListener("click", () => this.#listeners.opened(number));
    shown.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.#listeners.opened(number);
      }
    });
    this.#activates(shown, number);
    this.#edits.push(shown);
    return shown;
  }

  #activates(shown, number) {
    const { activated } = this.#listeners;
    shown.addEventListener("pointerenter", () => activated(number));
    shown.addEventListener("pointerleave", () => activated(null));
    shown.addEventListener("focus", () => activated(number));
    shown.addEventListener("blur", () => activated(null));
  }

  #showEdits(answer) {
    const regions = regionsOf(answer);
    this.#items = answer.edits.map((edit, number) => {
      const item = element("li", edit.op);
      item.append(element("span", "number", String(number + 1)), ...editWords(answer, edit, regions[number]));
      this.#activates(item, number);
      return item;
    });
    const dropped = (answer.grid?.regions ?? []).filter((region) => !region.made);
    dropped.sort((one, other) => other.score - one.score);
    const others = dropped.slice(0, MOST_DROPPED).map((region) => {
      const item = element("li", `dropped ${region.op}`);
      item.append(element("span", "number", "–"), ...regionWords(answer, region));
      return item;
    });
    if (dropped.length > MOST_DROPPED) {
      others.push(element("li", "dropped more", `and ${dropped.length - MOST_DROPPED} more that are not made`));
    }
    this.#parts.edits.replaceChildren(...this.#items, ...others);
  }
}

function editWords(answer, edit, region) {
  const gone = slice(answer.utterance, edit.start, edit.end);
  const next = region === null ? "" : answer.grid.columns[answer.grid.regions[region].left];
  const atEnd = !slice(answer.utterance, edit.start).trim();
  const place = edit.op === "substitute" ? gone : atEnd ? "" : next || slice(answer.utterance, edit.start).trim();
  return described(edit.op, edit.text, place, `${sourceOf(edit)} · score ${edit.score.toFixed(2)}`);
}

function regionWords(answer, region) {
  const { rows, columns } = answer.grid;
  const atEnd = region.op === "insert" && region.left === columns.length - 1;
  const right = region.op === "insert" ? region.left + 1 : region.right;
  const place = atEnd ? "" : joined(columns.slice(region.left, right));
  const more = `found, not made · score ${region.score.toFixed(2)}`;
  return described(region.op, joined(rows.slice(region.top, region.bottom)), place, more);
}

function described(op, words, place, more) {
  const main = element("span", "what");
  const copied = element("b");
  tell(copied, words);
  main.append(copied);
  if (place) {
    const target = element("i");
    tell(target, place);
    main.append(op === "substitute" ? " in place of " : " before ", target);
  } else {
    main.append(" at the end");
  }
  return [main, " ", element("span", "more", more)];
}

function sourceOf(edit) {
  return edit.source_turn === null ? "a connection word of the model" : `from turn ${edit.source_turn + 1}`;
}

function factsOf(answer, roundTrip) {
  const parts = [];
  const add = (name, value, more = "") => {
    const group = element("div", "fact");
    const shown = element("dd", "", value);
    if (more) {
      shown.append(" ", element("span", "more", more));
    }
    group.append(element("dt", "", name), shown);
    parts.push(group);
    return group;
  };
  if (answer.confidence !== null) {
    const bar = element("span", "bar");
    bar.setAttribute("aria-hidden", "true");
    bar.style.setProperty("--share", String(answer.confidence));
    add("Confidence", percent(answer.confidence)).append(bar);
  }
  add("Server", milliseconds(answer.timing.total_ms), `${milliseconds(answer.timing.computed_ms)} to compute`);
  add("Round trip", milliseconds(roundTrip));
  if (answer.model !== null) {
    const seen = answer.turns_used ? `saw ${counted(answer.turns_used, "turn")}` : "";
    add("Model", answer.model, seen);
  }
  return parts;
}

function milliseconds(value) {
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} ms`;
}

function sentence(words) {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
