/** The dialogue as a call: for a shell, for Python, and what came of it as JSON. */

/**
 * @typedef {import("./api.js").Answer} Answer
 * @typedef {{messages: import("./api.js").Message[], mode: string, lang: string, threshold: number | null}} Asked
 */

const KEY_VARIABLE = "UREWRITE_API_KEY";

/**
 * The body of a request without what is at its default.
 * @param {Asked} asked
 * @returns {Record<string, unknown>}
 */
export function bodyOf({ messages, mode, lang, threshold }) {
  return {
    messages,
    ...(mode === "auto" ? {} : { mode }),
    ...(lang === "auto" ? {} : { lang }),
    ...(threshold === null ? {} : { threshold }),
  };
}

/**
 * A line for a POSIX shell. A key is left to the environment.
 * @param {string} address of /v1/rewrite
 * @param {Asked} asked
 * @param {boolean} withKey
 * @returns {string}
 */
export function asCurl(address, asked, withKey) {
  return [
    `curl -sS ${quoted(address)}`,
    "  -H 'content-type: application/json'",
    ...(withKey ? [`  -H "authorization: Bearer $${KEY_VARIABLE}"`] : []),
    `  -d ${quoted(JSON.stringify(bodyOf(asked), null, 2))}`,
  ].join(" \\\n");
}

/**
 * A program with the client of the package.
 * @param {string} address of the service
 * @param {Asked} asked
 * @param {boolean} withKey
 * @returns {string}
 */
export function asPython(address, { messages, mode, lang, threshold }, withKey) {
  const turns = messages.slice(0, -1).map(({ role, content }) => `    ("${role}", ${literal(content)}),`);
  const wishes = [
    ...(mode === "auto" ? [] : [`mode=${literal(mode)}`]),
    ...(lang === "auto" ? [] : [`lang=${literal(lang)}`]),
    ...(threshold === null ? [] : [`threshold=${threshold}`]),
  ];
  return [
    ...(withKey ? ["import os", ""] : []),
    "from urewrite.serve.client import Client",
    "",
    turns.length ? `history = [\n${turns.join("\n")}\n]` : "history = []",
    `utterance = ${literal(messages.at(-1).content)}`,
    "",
    `with Client(${literal(address)}${withKey ? `, api_key=os.environ["${KEY_VARIABLE}"]` : ""}) as client:`,
    `    result = client.rewrite(${["history", "utterance", ...wishes].join(", ")})`,
    "print(result)",
    "",
  ].join("\n");
}

/**
 * The answer, without the grid, which is not asked for elsewhere either.
 * @param {Answer} answer
 * @returns {string}
 */
export function asJson(answer) {
  return `${JSON.stringify({ ...answer, grid: null }, null, 2)}\n`;
}

/**
 * Put a text on the clipboard, also on pages without https, where browsers have no clipboard to write to.
 * @param {string} text
 * @returns {Promise<boolean>} whether it is there now
 */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const field = document.createElement("textarea");
    field.className = "unseen";
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) {
      focused.focus();
    }
    return done;
  }
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What JSON writes as text, Python reads as the same. */
function literal(text) {
  return JSON.stringify(text);
}
