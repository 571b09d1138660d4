// The page of one result: a link in the framed report leads to its queries, where only this page can go.

const shown = /** @type {HTMLIFrameElement} */ (document.getElementById("shown"));
const confident = /** @type {HTMLAnchorElement} */ (document.getElementById("confident"));

window.addEventListener("message", (event) => {
  if (event.source === shown.contentWindow && event.data === "browse") confident.click();
});
