/** The page: what is written goes to the service, what it answers is shown. */

import { Problem, Service } from "./api.js";
import { asCurl, asJson, asPython, bodyOf, toClipboard } from "./copy.js";
import { Dialogue } from "./dialogue.js";
import { EXAMPLES, messagesOf } from "./examples.js";
import { GridMap } from "./grid.js";
import { drawLinks } from "./links.js";
import { regionsOf, Result } from "./result.js";
import { fromFragment, toFragment } from "./share.js";
import { makeTabs } from "./tabs.js";
import { counted, element } from "./text.js";
import { Answers } from "./thresholds.js";

/** @typedef {import("./api.js").Answered} Answered */

const PAUSE = 350;
const TOAST = 2000;
const KEEP_PAUSE = 100; // browsers take a limited number of changes of an address in some seconds
const MODE_HELP = {
  auto: "Edits that are sure enough are made.",
  always: "Every edit that is found is made.",
  never: "Nothing is changed.",
};
const LANGUAGE_NAMES = { en: "English", zh: "中文" };
const TURN_FIELD = /^(?:messages|history)\[(\d+)\]/;

const at = (id) => document.getElementById(id);
const service = new Service();
const slider = /** @type {HTMLInputElement} */ (at("threshold"));
const language = /** @type {HTMLSelectElement} */ (at("lang"));

/** @type {import("./api.js").Model[]} */
let models = [];
/** @type {number | null} */
let threshold = null;
/** @type {Answers | null} */
let answers = null;
/** @type {(Answered & {asked: import("./copy.js").Asked}) | null} */
let shown = null;
let asking = new AbortController();
let timer = 0;
let keeper = 0;
let toaster = 0;
let code = "tab-curl";
let following = false;
/** @type {number[]} */
let active = [];
/** @type {(() => void) | null} */
let undo = null;

const dialogue = new Dialogue(at("turns"), at("turn"), {
  changed,
  submitted: runNow,
  removed: (turn, before) => {
    const whole = { ...state(), turns: before };
    offerUndo(`Turn ${turn + 1} was removed.`, () => {
      load(whole);
      keep();
    });
  },
});
const result = new Result(
  {
    card: at("rewrite"),
    text: at("text"),
    reason: at("reason"),
    edits: at("edits"),
    facts: at("facts"),
    notes: at("notes"),
    announcement: at("announcement"),
  },
  { activated: (edit) => activate(edit === null ? [] : [edit]), opened: openEdit },
);
const map = new GridMap(at("grid-box"), at("details"), (regions) => {
  const places = shown ? regionsOf(shown.answer) : [];
  activate([...places.keys()].filter((edit) => regions.includes(places[edit])));
});

function mode() {
  return document.querySelector("input[name=mode]:checked").value;
}

function state() {
  return { turns: dialogue.messages, mode: mode(), lang: language.value, threshold };
}

/** @returns {import("./copy.js").Asked} */
function asked() {
  const { turns, ...wishes } = state();
  return { messages: turns, ...wishes, threshold: wishes.mode === "auto" ? threshold : null };
}

/** Put a whole state on the page. */
function load(shared) {
  dialogue.messages = shared.turns;
  document.querySelector(`input[name=mode][value=${shared.mode}]`).checked = true;
  language.value = shared.lang;
  threshold = shared.threshold;
  hideUndo();
  forget();
  run();
}

/** What is shown is no longer the answer to what is written. */
function forget() {
  clearTimeout(timer);
  asking.abort();
  answers = null;
  dialogue.unmark();
  dialogue.clearProblems();
  activate([]);
  at("problem").hidden = true;
  result.wait();
  at("mode-help").textContent = MODE_HELP[mode()];
}

/** Something was written: keep it, and rewrite when there is a pause. */
function changed() {
  if (dialogue.composing) {
    return;
  }
  hideUndo();
  forget();
  keeper ||= setTimeout(keep, KEEP_PAUSE);
  timer = setTimeout(() => dialogue.composing || run(), PAUSE); // at its end an input method says so
}

/** The address holds what is written, so that a reload does not lose it. */
function keep() {
  clearTimeout(keeper);
  keeper = 0;
  history.replaceState(null, "", `#${toFragment(state())}`);
}

function runNow() {
  forget();
  keep();
  run(true);
}

/** @param {boolean} [byHand] whether somebody asked for it just now */
async function run(byHand = false) {
  const given = asked();
  if (!given.messages.at(-1).content.trim()) {
    showNothing();
    if (byHand) {
      dialogue.showProblem(given.messages.length - 1, "Write what is said last: this is what is rewritten.");
      dialogue.focus(given.messages.length - 1);
    }
    return;
  }
  asking = new AbortController();
  const { signal } = asking;
  const ask = (least) => service.rewrite({ ...bodyOf({ ...given, threshold: least }), return_grid: true }, signal);
  try {
    const first = await ask(given.threshold);
    if (!signal.aborted) {
      answers = new Answers(ask, first, given.threshold);
      show(first, true);
      if (threshold !== given.threshold) {
        follow(); // the slider was moved meanwhile
      }
      if (byHand) {
        at("rewrite").scrollIntoView({ block: "nearest" });
      }
    }
  } catch (error) {
    showProblem(error);
  }
}

/**
 * @param {Answered} answered
 * @param {boolean} isNew whether the grid is another one than before
 */
function show(answered, isNew) {
  shown = { ...answered, asked: asked() };
  const { answer, roundTrip } = answered;
  dialogue.clearProblems();
  at("problem").hidden = true;
  hideKey();
  result.show(answer, roundTrip);
  dialogue.mark(answer);
  activate([]);
  if (answer.grid && isNew) {
    at("grid-card").hidden = false;
    map.show(answer.grid);
  } else if (answer.grid) {
    map.setRegions(answer.grid.regions);
  } else {
    hideGrid();
  }
  showThreshold();
  showCode();
  at("use").hidden = false;
}

function showNothing() {
  shown = null;
  result.showNothing();
  hideGrid();
  at("use").hidden = true;
}

function hideGrid() {
  map.clear();
  at("grid-card").hidden = true;
}

/** In words, near the field that is at fault. */
function showProblem(error) {
  if (error.name === "AbortError") {
    return; // another request took its place
  }
  if (!(error instanceof Problem)) {
    throw error;
  }
  result.showNoAnswer();
  if (error.status === 401) {
    askForKey();
    return;
  }
  const turn = TURN_FIELD.exec(error.field ?? "");
  const position = error.field === "utterance" ? dialogue.messages.length - 1 : turn ? Number(turn[1]) : -1;
  if (!dialogue.showProblem(position, error.words)) {
    at("problem").textContent = error.words;
    at("problem").hidden = false;
  } else {
    at("announcement").textContent = `Turn ${position + 1}: ${error.words}`;
  }
}

function askForKey() {
  at("key-form").hidden = false;
  at("key-problem").hidden = false;
  at("key-problem").textContent = service.key
    ? "The server does not know this key."
    : "This server asks for an API key.";
  at("key").setAttribute("aria-invalid", "true");
  at("key").focus();
}

function hideKey() {
  const hadFocus = at("key-form").contains(document.activeElement);
  at("key-form").hidden = true;
  if (hadFocus) {
    at("rewrite").focus();
  }
}

/** The slider as it stands, what it means, and where a result changes. */
function showThreshold() {
  const { answer } = shown;
  const own = models.find((model) => model.id === answer.model)?.thresholds ?? { region: 0.5, lone: 0.5 };
  const value = threshold ?? own.region;
  slider.value = String(value);
  slider.disabled = mode() !== "auto";
  at("threshold-field").classList.toggle("off", slider.disabled);
  at("threshold-own").hidden = threshold === null || slider.disabled;
  at("threshold-value").textContent = slider.disabled ? "–" : value.toFixed(2);
  const isOwn = threshold === null;
  slider.setAttribute("aria-valuetext", `${value.toFixed(2)}${isOwn ? ", the default" : ""}`);
  const help = thresholdHelp(isOwn ? own : null);
  at("threshold-help").textContent = slider.disabled ? "Without effect in this mode." : help;
  const regions = answer.grid?.regions ?? [];
  at("ticks").replaceChildren(
    ...regions.map((region) => {
      const tick = element("span", region.op);
      tick.style.setProperty("--at", String(region.score));
      return tick;
    }),
  );
  if (answer.grid) {
    const { rows, columns } = answer.grid;
    at("grid-size").textContent = `${rows.length} × ${columns.length}, ${counted(regions.length, "region")}`;
  }
}

/** @param {{region: number, lone: number} | null} own the model's own thresholds, if they are what counts */
function thresholdHelp(own) {
  const needs = "The least score a region needs to become an edit.";
  if (!own) {
    return needs;
  }
  const lone = own.lone < own.region ? ` If none has it, the best one needs ${own.lone.toFixed(2)}.` : "";
  return `${needs} This is the default of the model.${lone}`;
}

/** Act on the slider at once; of positions that were passed meanwhile only the last one counts. */
async function follow() {
  if (following) {
    return;
  }
  following = true;
  try {
    let done;
    do {
      const current = answers;
      const least = threshold;
      done = () => current === answers && least === threshold;
      const answered = await current?.at(least);
      if (answered && current === answers) {
        show(answered, false);
      }
    } while (!done());
  } catch (error) {
    showProblem(error);
  } finally {
    following = false;
  }
}

function setThreshold(value) {
  threshold = value;
  if (shown) {
    showThreshold();
  }
  follow();
}

/** @param {number[]} edits those that somebody looks at */
function activate(edits) {
  active = edits;
  result.highlight(edits);
  const regions = shown ? regionsOf(shown.answer) : [];
  map.highlight(edits.map((edit) => regions[edit]));
  const links = edits.flatMap((edit) =>
    dialogue.sources(edit).map((to) => ({ from: result.words(edit), to, kind: shown.answer.edits[edit].op })),
  );
  for (const mark of document.querySelectorAll("mark.hot")) {
    mark.classList.remove("hot");
  }
  for (const { to } of links) {
    to.classList.add("hot");
  }
  drawLinks(at("links"), links);
}

function openEdit(edit) {
  const { source_turn, source_start, source_end } = shown.answer.edits[edit];
  const region = regionsOf(shown.answer)[edit];
  if (source_turn !== null) {
    dialogue.select(source_turn, source_start, source_end);
  } else if (region !== null) {
    map.focus(region);
  }
}

function codeText() {
  const withKey = Boolean(service.key);
  const address = service.address("v1/rewrite");
  if (code === "tab-python") {
    return asPython(address.replace(/\/v1\/rewrite$/, ""), shown.asked, withKey);
  }
  return code === "tab-json" ? asJson(shown.answer) : asCurl(address, shown.asked, withKey);
}

function showCode() {
  at("code").textContent = shown ? codeText() : "";
}

async function copy(text, name) {
  toast((await toClipboard(text)) ? `${name} copied` : "This browser does not let pages copy");
}

function toast(words) {
  const place = at("toast");
  place.textContent = words;
  place.classList.add("shown");
  clearTimeout(toaster);
  toaster = setTimeout(() => place.classList.remove("shown"), TOAST);
}

/** Nothing that was written is lost by one click; nor is what is written next, with which the offer ends. */
function offerUndo(words, back) {
  undo = back;
  at("undo").hidden = false;
  at("undo").querySelector("span").textContent = words;
}

function hideUndo() {
  at("undo").hidden = true;
  undo = null;
}

/** Another dialogue in place of this one, to which the browser's back button returns as well. */
function replace(turns, words) {
  const before = state();
  const after = { ...before, turns, threshold: null };
  keep();
  history.pushState(null, "", `#${toFragment(after)}`);
  load(after);
  if (before.turns.some(({ content }) => content.trim())) {
    offerUndo(words, () => history.back());
  }
}

function showExamples() {
  const known = new Set(models.flatMap((model) => model.languages));
  const groups = Object.entries(LANGUAGE_NAMES).map(([name, title]) => {
    const group = element("div", "example-group");
    const missing = known.size && !known.has(name) ? ", no model here" : "";
    group.append(element("h3", "", `${title}${missing}`));
    for (const example of EXAMPLES.filter((one) => one.language === name)) {
      const button = element("button", "chip", example.title);
      button.type = "button";
      button.lang = name;
      button.addEventListener("click", () => {
        const turns = messagesOf(example);
        const isShown = JSON.stringify(turns) === JSON.stringify(dialogue.messages);
        if (!isShown) {
          replace(turns, "Your dialogue was replaced.");
        }
      });
      group.append(button);
    }
    return group;
  });
  at("examples").replaceChildren(...groups);
}

/** What the link says, or an example in a language that the visitor reads and the server has a model for. */
function initial() {
  const known = models.flatMap((model) => model.languages);
  const wanted = navigator.language.startsWith("zh") ? "zh" : "en";
  const chosen = known.includes(wanted) ? wanted : known[0];
  const example = EXAMPLES.find((one) => one.language === chosen) ?? EXAMPLES[0];
  return fromFragment(location.hash) ?? { turns: messagesOf(example), mode: "auto", lang: "auto", threshold: null };
}

function listen() {
  at("add-turn").addEventListener("click", () => dialogue.append());
  at("run").addEventListener("click", runNow);
  at("clear").addEventListener("click", () => {
    replace([{ role: "user", content: "" }], "The dialogue was cleared.");
    dialogue.focus(0);
  });
  at("mode").addEventListener("change", runNow);
  language.addEventListener("change", runNow);
  slider.addEventListener("input", () => setThreshold(Number(slider.value)));
  slider.addEventListener("change", keep);
  at("threshold-own").addEventListener("click", () => {
    setThreshold(null);
    keep();
    slider.focus();
  });
  at("undo").querySelector("button").addEventListener("click", () => {
    undo?.();
    hideUndo();
  });
  at("copy-text").addEventListener("click", () => shown && copy(shown.answer.text, "Text"));
  at("copy-code").addEventListener("click", () => shown && copy(codeText(), at(code).textContent));
  at("copy-link").addEventListener("click", () => {
    keep();
    copy(location.href, "Link");
  });
  makeTabs(document.querySelector("[role=tablist]"), at("code-panel"), (id) => {
    code = id;
    showCode();
  });
  at("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    service.key = at("key").value.trim();
    at("key").removeAttribute("aria-invalid");
    start();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the fragment is the dialogue's
    at("rewrite").focus();
  });
  window.addEventListener("hashchange", () => (fromFragment(location.hash) || !location.hash) && load(initial()));
  window.addEventListener("resize", () => activate(active));
}

/** Ask what models there are, once that is allowed, and rewrite. */
async function start() {
  try {
    models = await service.models();
    showExamples();
  } catch (error) {
    showProblem(error);
  }
  if (dialogue.messages.length) {
    forget();
    run();
  } else {
    load(initial());
  }
}

showNothing();
showExamples();
listen();
start();
