// Small things that pages need: elements by id, new elements, announcements, problems, text from outside.

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Beginning of the addresses of this page: "" unless it is shown within another (truemoment open). */
export const ROOT = document.documentElement.dataset.root || "";

// The characters that text.py writes as escapes; a test compares them.
const HIDDEN = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029" +
    "\\xad\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff0-\\ufffb\\p{NChar}\\p{Cs}" +
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{13430}-\\u{1343f}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}]",
  "gu",
);
const JOINERS = "\u200c\u200d";

/** Text with escapes for what would hide, or turn the direction of the text around it. @param {string} text */
export function printable(text) {
  return text.replace(HIDDEN, (character, at) => {
    if (JOINERS.includes(character) && isJoined(text[at - 1]) && isJoined(text[at + 1])) return character;
    const code = /** @type {number} */ (character.codePointAt(0));
    const digits = code.toString(16);
    return code < 0x100 ? `\\x${digits.padStart(2, "0")}` : code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
  });
}

/** @param {string | undefined} sign @returns {boolean} whether it may be of a script that joins its signs, or an emoji */
const isJoined = (sign) => sign !== undefined && /[^\0-\u024f\u2000-\u206f]/.test(sign);

/** Text from outside within a line that cannot have elements, as an option: its direction stays in it. @param {string} text */
export const isolated = (text) => `\u2068${printable(text)}\u2069`;

/**
 * Make an element. What would hide in its text is written as an escape; name it "bdi" within a line of other text.
 * @param {string} name
 * @param {string} text
 * @param {string} kind class
 */
export function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = printable(text);
  if (kind) made.className = kind;
  return made;
}

/**
 * @param {string} text
 * @param {string} label for people who do not see it
 * @param {(event: Event) => void} act
 * @param {string} kind class
 * @returns {HTMLButtonElement}
 */
export function button(text, label, act, kind = "") {
  const made = /** @type {HTMLButtonElement} */ (element("button", text, kind));
  made.type = "button";
  if (label) made.setAttribute("aria-label", printable(label));
  made.addEventListener("click", act);
  return made;
}

/** Text with a capital, as buttons and headings begin. @param {string} text */
export const capitalised = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Say something to people who do not see it. @param {string} text */
export function announce(text) {
  byId("live").textContent = printable(text);
}

/** Show what went wrong; "" for nothing. @param {string} text */
export function problem(text) {
  byId("problem").hidden = !text;
  byId("problem").textContent = printable(text);
}

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
