// Keys. None acts while a text field has focus or a text is being composed. Letters can be changed or switched off.

const STORED = "truemoment-keys";

// Keys of layouts without the sign that an action has, by their place on the keyboard.
const PLACES = new Map(Object.entries({
  BracketLeft: "[{", BracketRight: "]}", Comma: ",<", Period: ".>", Slash: "/?", Equal: "=+", Minus: "-_",
}));

const SHOWN = new Map(Object.entries({ ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", "-": "−" }));

/** @param {KeyboardEvent} event @returns {string[]} names, e.g. "Shift+I", "Ctrl+Enter", ",": by the sign, then by its place */
export function namesOf(event) {
  const signs = [event.key === " " ? "Space" : event.key];
  const place = PLACES.get(event.code)?.[event.shiftKey ? 1 : 0];
  if (/^Key[A-Z]$/.test(event.code) && !/^[a-z]$/i.test(event.key)) signs.push(event.code.slice(3));
  else if (/^Digit[0-9]$/.test(event.code) && !event.shiftKey) signs.push(event.code.slice(5));
  else if (place) signs.push(place);
  return signs.map((sign) => nameOf(event, sign));
}

/** @param {KeyboardEvent} event @param {string} sign */
function nameOf(event, sign) {
  const isLetter = /^[a-z]$/i.test(sign);
  const isSign = sign.length === 1 && !isLetter;
  const isAltGr = event.getModifierState("AltGraph"); // how some layouts write [ ] { }
  const parts = [];
  if ((event.ctrlKey || event.metaKey) && !isAltGr) parts.push("Ctrl");
  if (event.altKey && !isAltGr) parts.push("Alt");
  if (event.shiftKey && !isSign) parts.push("Shift");
  return [...parts, isLetter ? sign.toUpperCase() : sign].join("+");
}

/** A button that was clicked with a pointer loses the focus, so that Space plays and does not click again. @param {MouseEvent} event */
function leaveButton(event) {
  const button = /** @type {HTMLElement} */ (event.target).closest?.("button");
  if (event.detail > 0 && button && button === document.activeElement && !button.closest("dialog")) button.blur();
}

/**
 * @typedef {{keys: string[], text: string, act: (key: string) => void, shown?: string[], always?: boolean}} Action `shown`: keys as
 *   the table shows them; `always`: it also acts while no task is ready
 */

export class Keys {
  /** @param {Action[]} actions in the order of the table @param {() => boolean} isReady whether keys act now */
  constructor(actions, isReady) {
    this.actions = actions;
    this.isReady = isReady;
    /** @type {{off: boolean, changed: Record<string, string>, earlier: number, live: boolean}} `live`: the last mark was made while the video played */
    this.own = { off: false, changed: {}, earlier: 0, live: false };
    try {
      this.own = { ...this.own, ...JSON.parse(localStorage.getItem(STORED) || "{}") };
    } catch {
      // a browser without storage keeps the usual keys
    }
    document.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("click", leaveButton);
  }

  /** Seconds by which marks are made earlier while the video plays. */
  get earlier() {
    return Math.min(2, Math.max(0, Number(this.own.earlier) || 0));
  }

  /** @param {string} key @returns {string} the key that is pressed for it */
  pressed(key) {
    return this.own.changed[key] || key;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229 || document.querySelector("dialog[open]")) return;
    const names = namesOf(event);
    const target = /** @type {HTMLElement} */ (event.target);
    const isText = target.matches("input[type=text], input[type=number], textarea, select, [contenteditable]");
    if (isText && !names.includes("Ctrl+Enter")) return;
    if (target.matches("button, a, input") && ["Space", "Enter"].includes(names[0])) return;
    for (const name of names) {
      const action = this.actions.find((candidate) => candidate.keys.some((key) => this.pressed(key) === name));
      const key = action?.keys.find((candidate) => this.pressed(candidate) === name);
      if (!action || key === undefined) continue;
      if (this.own.off && /^(Shift\+)?.$/u.test(name)) return;
      event.preventDefault();
      if (action.always || this.isReady()) action.act(key);
      return;
    }
  }

  /** Show the table, with switches and buttons to change letters. @param {HTMLDialogElement} dialog @param {boolean} hasMarks */
  show(dialog, hasMarks = false) {
    const title = element("h2", "Keys");
    title.id = "keys-title";
    const list = element("table", "");
    list.className = "keys";
    for (const action of this.actions) {
      const row = document.createElement("tr");
      const cell = document.createElement("td");
      const shown = action.shown || action.keys.map((key) => this.pressed(key));
      for (const key of shown) cell.append(element("kbd", key.replace(/[^+]+$/, (name) => SHOWN.get(name) || name)), " ");
      row.append(cell, element("td", action.text), this.changer(action.keys[0], dialog, hasMarks));
      list.append(row);
    }
    const close = element("button", "Close");
    close.className = "main";
    close.addEventListener("click", () => dialog.close());
    const reset = element("button", "Reset the keys");
    reset.addEventListener("click", () => {
      this.keep({ changed: {} });
      this.show(dialog, hasMarks);
    });
    const buttons = element("div", "");
    buttons.className = "row";
    buttons.append(close, reset);
    dialog.replaceChildren(title, this.singleSwitch(), ...(hasMarks ? [this.earlierField()] : []), list, buttons);
    if (!dialog.open) dialog.showModal();
  }

  singleSwitch() {
    const label = document.createElement("label");
    label.className = "choice";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !this.own.off;
    box.addEventListener("change", () => this.keep({ off: !box.checked }));
    label.append(box, "Use keys without Ctrl or Alt");
    return label;
  }

  earlierField() {
    const label = element("label", "Marks made while the video plays are earlier by (seconds) ");
    label.className = "choice";
    const field = document.createElement("input");
    Object.assign(field, { type: "number", min: "0", max: "2", step: "0.1", value: String(this.earlier) });
    field.addEventListener("change", () => {
      this.keep({ earlier: Number(field.value) });
      field.value = String(this.earlier);
    });
    label.append(field);
    return label;
  }

  /** @param {string} key @param {HTMLDialogElement} dialog @param {boolean} hasMarks */
  changer(key, dialog, hasMarks) {
    const cell = document.createElement("td");
    if (!/^[A-Z]$/.test(key)) return cell;
    const button = element("button", "Change");
    button.setAttribute("aria-label", `change the key ${key}`);
    button.addEventListener("click", () => {
      button.textContent = "press a key";
      button.onkeydown = (event) => {
        if (["Tab", "Escape", "Shift", "Control", "Alt", "AltGraph", "Meta"].includes(event.key)) return;
        event.preventDefault();
        const [name] = namesOf(event);
        const isTaken = this.actions.some((candidate) => candidate.keys.some((other) => other !== key && this.pressed(other) === name));
        if (isTaken) {
          button.textContent = `${name} is in use`;
          return;
        }
        this.keep({ changed: { ...this.own.changed, [key]: name } });
        this.show(dialog, hasMarks);
      };
    });
    cell.append(button);
    return cell;
  }

  /** Keep settings of this person, for later visits too. @param {Partial<Keys["own"]>} own */
  keep(own) {
    Object.assign(this.own, own);
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
