/** Texts as the service counts them: in code points, of which JavaScript makes one or two units. */

const HAN = /\p{Script=Han}/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u;

/**
 * The part of a text between two offsets in code points.
 * @param {string} text
 * @param {number} start
 * @param {number} [end]
 * @returns {string}
 */
export function slice(text, start, end) {
  return Array.from(text).slice(start, end).join("");
}

/**
 * An offset in code points as one in units, as fields of a page take it.
 * @param {string} text
 * @param {number} offset
 * @returns {number}
 */
export function units(text, offset) {
  return slice(text, 0, offset).length;
}

/**
 * Words of a grid as they may have stood in the text: Chinese without blanks.
 * @param {string[]} words
 * @returns {string}
 */
export function joined(words) {
  let text = "";
  for (const word of words) {
    const touching = !text || WIDE.test(Array.from(text).at(-1)) || WIDE.test(Array.from(word)[0] ?? "");
    text += touching ? word : ` ${word}`;
  }
  return text;
}

/**
 * Show a text in an element, with the glyphs and breaks of its language.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function tell(element, text) {
  element.textContent = text;
  nameLanguage(element, text);
}

/**
 * Tell the browser and the screen reader if an element is Chinese.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function nameLanguage(element, text) {
  if (HAN.test(text)) {
    element.lang = "zh-Hans";
  } else {
    element.removeAttribute("lang");
  }
}

/**
 * A new element with a class and a text.
 * @param {string} name
 * @param {string} [kind]
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function element(name, kind = "", text = "") {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

/**
 * A probability as people read it.
 * @param {number} value
 * @returns {string}
 */
export function percent(value) {
  return `${Math.round(100 * value)} %`;
}

/**
 * A count with its noun.
 * @param {number} count
 * @param {string} noun
 * @returns {string}
 */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
