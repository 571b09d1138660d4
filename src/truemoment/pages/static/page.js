// Small things that pages need: elements by id, new elements, announcements, problems.

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/**
 * Make an element.
 * @param {string} name
 * @param {string} text
 * @param {string} kind class
 */
export function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
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
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

/** Say something to people who do not see it. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

/** Show what went wrong; "" for nothing. @param {string} text */
export function problem(text) {
  byId("problem").hidden = !text;
  byId("problem").textContent = text;
}

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
