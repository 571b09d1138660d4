// Keys. None acts while a text field has focus or a text is being composed. Letters can be changed or switched off.

const STORED = "truemoment-keys";

/** @param {KeyboardEvent} event @returns {string} e.g. "Shift+I", "Ctrl+Enter", "," */
export function nameOf(event) {
  let key = event.key === " " ? "Space" : event.key;
  if (/^[^\x00-\x7f]$/.test(key) && /^Key[A-Z]$/.test(event.code)) key = event.code.slice(3); // another script
  const isLetter = /^[a-z]$/i.test(key);
  if (isLetter) key = key.toUpperCase();
  const isSign = key.length === 1 && !isLetter;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && !isSign) parts.push("Shift");
  return [...parts, key].join("+");
}

export class Keys {
  /** @param {{keys: string[], text: string, act: (key: string) => void}[]} actions in the order of the table */
  constructor(actions) {
    this.actions = actions;
    /** @type {{off: boolean, changed: Record<string, string>}} */
    this.own = { off: false, changed: {} };
    try {
      this.own = { ...this.own, ...JSON.parse(localStorage.getItem(STORED) || "{}") };
    } catch {
      // a browser without storage keeps the usual keys
    }
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** @param {string} key @returns {string} the key that is pressed for it */
  pressed(key) {
    return this.own.changed[key] || key;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229 || document.querySelector("dialog[open]")) return;
    const name = nameOf(event);
    const target = /** @type {HTMLElement} */ (event.target);
    const isText = target.matches("input[type=text], input[type=number], textarea, select, [contenteditable]");
    if (isText && !name.startsWith("Ctrl+Enter")) return;
    const isPressing = target.matches("button, a, input") && ["Space", "Enter"].includes(name);
    if (isPressing) return;
    for (const action of this.actions) {
      const key = action.keys.find((of) => this.pressed(of) === name);
      if (key === undefined) continue;
      if (this.own.off && name.length === 1) return;
      event.preventDefault();
      action.act(key);
      return;
    }
  }

  /** Show the table, with a switch and fields to change letters. @param {HTMLDialogElement} dialog */
  show(dialog) {
    const title = element("h2", "Keys");
    title.id = "keys-title";
    const list = element("table", "");
    list.className = "keys";
    for (const action of this.actions) {
      const row = document.createElement("tr");
      const cell = document.createElement("td");
      for (const key of action.keys) cell.append(element("kbd", this.pressed(key)), " ");
      row.append(cell, element("td", action.text), this.changer(action.keys[0], dialog));
      list.append(row);
    }
    const off = document.createElement("label");
    off.className = "choice";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !this.own.off;
    box.addEventListener("change", () => {
      this.own.off = !box.checked;
      this.keep();
    });
    off.append(box, "Single keys act");
    const usual = element("button", "Usual keys");
    usual.addEventListener("click", () => {
      this.own.changed = {};
      this.keep();
      this.show(dialog);
    });
    const close = element("button", "Close");
    close.className = "main";
    close.addEventListener("click", () => dialog.close());
    const buttons = element("div", "");
    buttons.className = "marks";
    buttons.append(usual, close);
    dialog.replaceChildren(title, off, list, buttons);
    if (!dialog.open) dialog.showModal();
  }

  /** @param {string} key @param {HTMLDialogElement} dialog */
  changer(key, dialog) {
    const cell = document.createElement("td");
    if (!/^[A-Z]$/.test(key)) return cell;
    const button = element("button", "change");
    button.setAttribute("aria-label", `change the key ${key}`);
    button.addEventListener("click", () => {
      button.textContent = "press a key";
      button.addEventListener("keydown", (event) => {
        if (event.key === "Tab" || event.key === "Escape") return;
        event.preventDefault();
        const name = nameOf(event);
        if (["Shift", "Ctrl", "Alt", "Meta"].some((of) => name.endsWith(of))) return;
        this.own.changed[key] = name;
        this.keep();
        this.show(dialog);
      });
    });
    cell.append(button);
    return cell;
  }

  keep() {
    try {
      localStorage.setItem(STORED, JSON.stringify(this.own));
    } catch {
      // as above
    }
  }
}

/** @param {string} name @param {string} text */
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
