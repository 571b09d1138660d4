// Sign-in: the token behind # is sent once and taken out of the address.

import { send } from "./api.js";

const why = /** @type {HTMLElement} */ (document.getElementById("why"));
const field = /** @type {HTMLInputElement} */ (document.getElementById("token"));

/** @param {string} text a token, or a link that ends with one */
async function enter(text) {
  const token = text.trim().split("#").pop() || "";
  try {
    await send("POST", "/in", { token });
    location.replace("/");
  } catch (error) {
    why.textContent = error instanceof Error ? error.message : String(error);
    why.setAttribute("role", "alert");
    field.focus();
  }
}

document.getElementById("sign-in")?.addEventListener("submit", (event) => {
  event.preventDefault();
  enter(field.value);
});

function enterFromAddress() {
  if (location.hash.length < 2) return;
  const token = location.hash.slice(1);
  history.replaceState(null, "", "/in");
  enter(token);
}

window.addEventListener("hashchange", enterFromAddress);
enterFromAddress();
