// The question before the owner decides something.

import { element } from "./page.js";

/**
 * Ask before something is done.
 * @param {HTMLDialogElement} dialog
 * @param {{title: string, text: string, yes: string, label: string, act: (value: string) => void}} question `label`: that of a field;
 *   "" for none
 */
export function decide(dialog, { title, text, yes, label, act }) {
  const heading = element("h2", title);
  heading.id = "ask-title";
  const form = document.createElement("form");
  form.method = "dialog";
  const field = document.createElement("input");
  Object.assign(field, { type: "text", maxLength: 500, id: "ask-field", autocomplete: "off" });
  const caption = document.createElement("label");
  Object.assign(caption, { htmlFor: "ask-field", textContent: label });
  const confirm = element("button", yes, "main");
  const cancel = document.createElement("button");
  Object.assign(cancel, { type: "button", textContent: "Cancel" });
  cancel.addEventListener("click", () => dialog.close());
  const row = element("div", "", "row");
  row.append(confirm, cancel);
  form.append(...(label ? [caption, field] : []), row);
  form.addEventListener("submit", () => act(field.value));
  dialog.replaceChildren(heading, element("p", text), form);
  dialog.showModal();
}
