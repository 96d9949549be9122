/**
 * A dialogue as the fragment of a link, which browsers keep to themselves: `#u=…&a=…&u=…&mode=always`.
 *
 * `u` and `a` are turns of the user and the assistant, in order.
 */

/**
 * @typedef {import("./api.js").Message} Message
 * @typedef {{turns: Message[], mode: string, lang: string, threshold: number | null}} Shared
 */

const KEYS = { user: "u", assistant: "a" };
const ROLES = { u: "user", a: "assistant" };
const MODES = ["auto", "always", "never"];
const LANGUAGES = ["auto", "en", "zh"];

/**
 * @param {Shared} shared
 * @returns {string} without the #
 */
export function toFragment({ turns, mode, lang, threshold }) {
  const parts = new URLSearchParams(turns.map(({ role, content }) => [KEYS[role], content]));
  if (mode !== "auto") {
    parts.set("mode", mode);
  }
  if (lang !== "auto") {
    parts.set("lang", lang);
  }
  if (threshold !== null) {
    parts.set("threshold", String(threshold));
  }
  return parts.toString();
}

/**
 * What a fragment holds; what it says wrongly is as if it were not there.
 * @param {string} fragment with or without the #
 * @returns {Shared | null} null if there is no dialogue in it
 */
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const turns = [...parts].filter(([key]) => key in ROLES).map(([key, content]) => ({ role: ROLES[key], content }));
  if (!turns.length) {
    return null;
  }
  const threshold = Number(parts.get("threshold") || Number.NaN);
  return {
    turns,
    mode: MODES.includes(parts.get("mode")) ? parts.get("mode") : "auto",
    lang: LANGUAGES.includes(parts.get("lang")) ? parts.get("lang") : "auto",
    threshold: threshold >= 0 && threshold <= 1 ? threshold : null,
  };
}
