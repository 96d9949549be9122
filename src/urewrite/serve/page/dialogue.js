/**
 * The dialogue that is written: turns that can be added, removed and moved, with marks where edits come from.
 *
 * The last turn that holds text is the one that is rewritten; empty ones after it wait for what is said next.
 */

import { element, nameLanguage, units } from "./text.js";

/**
 * @typedef {import("./api.js").Message} Message
 * @typedef {import("./api.js").Answer} Answer
 * @typedef {{item: HTMLElement, field: HTMLTextAreaElement, role: HTMLSelectElement, mirror: HTMLElement,
 *   problem: HTMLElement}} Turn
 * @typedef {{start: number, end: number, kind: string, edit: number}} Mark offsets in units
 */

export class Dialogue {
  /** @type {Turn[]} */
  #turns = [];
  #composing = false;
  #list;
  #template;
  #listeners;

  /**
   * @param {HTMLOListElement} list
   * @param {HTMLTemplateElement} template
   * @param {{changed: () => void, submitted: () => void, removed: (turn: number, before: Message[]) => void}} listeners
   */
  constructor(list, template, listeners) {
    this.#list = list;
    this.#template = template;
    this.#listeners = listeners;
  }

  /** Whether an input method is at work, whose letters are not the text yet. */
  get composing() {
    return this.#composing;
  }

  /** @returns {Message[]} up to the one that is rewritten */
  get messages() {
    return this.#turns.slice(0, this.#last + 1).map(({ role, field }) => ({
      role: /** @type {Message["role"]} */ (role.value),
      content: field.value,
    }));
  }

  /** @param {Message[]} messages at least one */
  set messages(messages) {
    this.#turns = [];
    this.#list.replaceChildren();
    messages.forEach((message, position) => this.#insert(position, message));
    this.#number();
  }

  /** Which turn is rewritten. */
  get #last() {
    return Math.max(0, this.#turns.findLastIndex(({ field }) => field.value.trim()));
  }

  /** Add an empty turn after all others, or go to it if there is one. */
  append() {
    this.#follow(this.#turns.length - 1);
  }

  /** @param {number} position */
  focus(position) {
    this.#turns[position].field.focus();
  }

  /**
   * Select characters of a turn, offsets in code points.
   * @param {number} position
   * @param {number} start
   * @param {number} end
   */
  select(position, start, end) {
    const { field, item } = this.#turns[position];
    item.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
    field.setSelectionRange(units(field.value, start), units(field.value, end));
  }

  /**
   * Mark what edits copy, and in the last turn what they replace or where they put it.
   * @param {Answer} answer
   */
  mark(answer) {
    /** @type {Mark[][]} */
    const marks = this.#turns.map(() => []);
    answer.edits.forEach((edit, number) => {
      const place = (turn, start, end, kind) => {
        const text = this.#turns[turn].field.value;
        marks[turn].push({ start: units(text, start), end: units(text, end), kind, edit: number });
      };
      if (edit.source_turn !== null) {
        place(edit.source_turn, edit.source_start, edit.source_end, `source ${edit.op}`);
      }
      place(this.#last, edit.start, edit.end, edit.op === "insert" ? "slot" : "gone");
    });
    this.#turns.forEach((turn, position) => fill(turn.mirror, turn.field.value, marks[position]));
  }

  /** Take the marks away: the texts have changed. */
  unmark() {
    for (const turn of this.#turns) {
      fill(turn.mirror, turn.field.value, []);
    }
  }

  /**
   * The elements that show where an edit comes from.
   * @param {number} edit
   * @returns {HTMLElement[]}
   */
  sources(edit) {
    return [...this.#list.querySelectorAll("mark.source")].filter((mark) =>
      mark.dataset.edits.split(" ").includes(String(edit)),
    );
  }

  /**
   * Say what is wrong with a turn.
   * @param {number} position
   * @param {string} words
   * @returns {boolean} whether there is such a turn
   */
  showProblem(position, words) {
    const turn = this.#turns[position];
    if (turn) {
      turn.problem.textContent = words;
      turn.problem.hidden = false;
      turn.field.setAttribute("aria-invalid", "true");
    }
    return Boolean(turn);
  }

  /** Nothing is wrong any more. */
  clearProblems() {
    for (const { problem, field } of this.#turns) {
      problem.hidden = true;
      problem.textContent = "";
      field.removeAttribute("aria-invalid");
    }
  }

  #insert(position, { role, content }) {
    const item = /** @type {HTMLElement} */ (this.#template.content.firstElementChild.cloneNode(true));
    const turn = {
      item,
      field: item.querySelector("textarea"),
      role: item.querySelector("select"),
      mirror: item.querySelector(".mirror"),
      problem: item.querySelector(".problem"),
    };
    turn.role.value = role;
    turn.field.value = content;
    this.#show(turn);
    this.#listen(turn);
    this.#list.insertBefore(item, this.#turns[position]?.item ?? null);
    this.#turns.splice(position, 0, turn);
    return turn;
  }

  #show(turn) {
    nameLanguage(turn.field, turn.field.value);
    nameLanguage(turn.mirror, turn.field.value);
    fill(turn.mirror, turn.field.value, []);
  }

  #listen(turn) {
    const { field, item } = turn;
    field.addEventListener("input", () => {
      this.#show(turn);
      this.#number();
      this.#listeners.changed();
    });
    field.addEventListener("compositionstart", () => {
      this.#composing = true;
    });
    field.addEventListener("compositionend", () => {
      this.#composing = false;
      this.#listeners.changed();
    });
    field.addEventListener("keydown", (event) => this.#press(turn, event));
    turn.role.addEventListener("change", () => {
      this.#number();
      this.#listeners.changed();
    });
    item.querySelector(".up").addEventListener("click", () => this.#move(turn, -1));
    item.querySelector(".down").addEventListener("click", () => this.#move(turn, 1));
    item.querySelector(".remove").addEventListener("click", () => this.#remove(turn));
  }

  #press(turn, event) {
    if (event.isComposing || event.keyCode === 229) {
      return; // the key is the input method's: 229 is what Safari says after its end
    }
    const position = this.#turns.indexOf(turn);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#listeners.submitted();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#follow(position);
    } else if (event.key === "Backspace" && !turn.field.value && this.#turns.length > 1) {
      event.preventDefault();
      this.#remove(turn);
    } else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      this.#move(turn, event.key === "ArrowUp" ? -1 : 1);
    }
  }

  /** To an empty turn after this one, which is made if there is none. */
  #follow(position) {
    const next = this.#turns[position + 1] ?? (this.#turns[position].field.value ? null : this.#turns[position]);
    if (!next || next.field.value) {
      const role = this.#turns[position].role.value === "user" ? "assistant" : "user";
      this.#insert(position + 1, { role, content: "" });
      this.#number();
      this.#listeners.changed();
      this.focus(position + 1);
    } else {
      next.field.focus();
    }
  }

  #move(turn, by) {
    const from = this.#turns.indexOf(turn);
    const to = from + by;
    if (to < 0 || to >= this.#turns.length) {
      return;
    }
    const focused = document.activeElement;
    this.#turns.splice(from, 1);
    this.#list.insertBefore(turn.item, this.#turns[to]?.item ?? null);
    this.#turns.splice(to, 0, turn);
    this.#number();
    this.#listeners.changed();
    if (focused instanceof HTMLElement) {
      focused.focus(); // an element that is moved loses it
    }
  }

  #remove(turn) {
    const position = this.#turns.indexOf(turn);
    if (this.#turns.length === 1) {
      return;
    }
    const before = this.messages;
    this.#turns.splice(position, 1);
    turn.item.remove();
    this.#number();
    this.#listeners.changed();
    if (turn.field.value) {
      this.#listeners.removed(position, before);
    }
    this.focus(Math.max(position - 1, 0));
  }

  /** Numbers and names, which depend on where a turn is. */
  #number() {
    const rewritten = this.#last;
    const last = this.#turns.length - 1;
    this.#turns.forEach(({ item, field, role, problem }, position) => {
      const number = position + 1;
      const isRewritten = position === rewritten;
      item.classList.toggle("last", isRewritten);
      item.classList.toggle("assistant", role.value === "assistant");
      item.querySelector(".turn-number").textContent = String(number);
      role.setAttribute("aria-label", `Who says turn ${number}`);
      field.setAttribute("aria-label", `Turn ${number}${isRewritten ? ", which is rewritten" : ""}`);
      field.placeholder = position > rewritten ? "What is said next" : "What is said";
      problem.id = `problem-${number}`;
      field.setAttribute("aria-describedby", problem.id);
      name(item.querySelector(".up"), `Move turn ${number} up`, position > 0);
      name(item.querySelector(".down"), `Move turn ${number} down`, position < last);
      name(item.querySelector(".remove"), `Remove turn ${number}`, last > 0);
    });
  }
}

/** A button without words; one that does nothing stays where it is, so that the focus does. */
function name(button, words, works) {
  button.setAttribute("aria-label", words);
  button.title = words;
  button.setAttribute("aria-disabled", String(!works));
}

/**
 * The text behind a field, letter upon letter, in which parts can be marked. It gives the field its height, too.
 * @param {HTMLElement} mirror
 * @param {string} text
 * @param {Mark[]} marks
 */
function fill(mirror, text, marks) {
  const edges = new Set([0, text.length]);
  for (const { start, end } of marks) {
    edges.add(start).add(end);
  }
  const ordered = [...edges].sort((one, other) => one - other);
  const parts = [];
  ordered.forEach((start, position) => {
    const slots = marks.filter((mark) => mark.start === start && mark.end === start);
    if (slots.length) {
      parts.push(marked("", slots));
    }
    const end = ordered[position + 1];
    if (end !== undefined) {
      const over = marks.filter((mark) => mark.start <= start && mark.end >= end && mark.end > mark.start);
      parts.push(over.length ? marked(text.slice(start, end), over) : document.createTextNode(text.slice(start, end)));
    }
  });
  mirror.replaceChildren(...parts, document.createTextNode("\u200b")); // so that a last line that is empty has height
}

function marked(text, marks) {
  const mark = element("mark", marks[0].kind, text);
  mark.dataset.edits = [...new Set(marks.map(({ edit }) => edit))].join(" ");
  mark.dataset.numbers = [...new Set(marks.map(({ edit }) => edit + 1))].join(" ");
  return mark;
}
