// What the owner decides: buttons, and the question before something is done.

/** @param {string} name @param {string} text @param {string} kind */
export function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** @param {string} text @param {string} label what it does, in full @param {() => void} act */
export function button(text, label, act) {
  const made = element("button", text);
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

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
