// Elements of the page by their id.

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}
