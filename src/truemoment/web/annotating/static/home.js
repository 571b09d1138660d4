// First page: whoever has read the instructions may begin.

import { send } from "./api.js";

const box = /** @type {HTMLInputElement | null} */ (document.getElementById("read"));
const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("begin"));

box?.addEventListener("change", () => {
  if (button) button.disabled = !box.checked;
});

button?.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await send("POST", "/api/read");
    location.href = "/task";
  } catch (error) {
    button.disabled = false;
    button.textContent = error instanceof Error ? error.message : String(error);
  }
});
