// The page of one result: a link in the framed report leads to its queries, where only this page can go; a study of
// annotate has a site of its own.

import { send } from "./api.js";
import { byId, problem } from "./page.js";

const shown = /** @type {HTMLIFrameElement | null} */ (document.getElementById("shown"));
const site = /** @type {HTMLButtonElement | null} */ (document.getElementById("site"));

window.addEventListener("message", (event) => {
  if (shown && event.source === shown.contentWindow && event.data === "browse") byId("confident").click();
});

site?.addEventListener("click", async () => {
  site.disabled = true;
  problem("");
  try {
    location.href = (await send("POST", `/api/site/${site.dataset.key}`)).link;
  } catch (error) {
    problem(error instanceof Error ? error.message : String(error));
  }
  site.disabled = false;
});
