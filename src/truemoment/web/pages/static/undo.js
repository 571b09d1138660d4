// States that can be gone back to.

/** @template T */
export class History {
  /** @param {T} state */
  constructor(state) {
    /** @type {string[]} */
    this.past = [];
    /** @type {string[]} */
    this.future = [];
    this.now = JSON.stringify(state);
  }

  /** @param {T} state @returns {boolean} whether it differs from the one before */
  add(state) {
    const text = JSON.stringify(state);
    if (text === this.now) return false;
    this.past.push(this.now);
    this.future = [];
    this.now = text;
    return true;
  }

  /** @returns {T | null} the state before */
  undo() {
    return this.go(this.past, this.future);
  }

  /** @returns {T | null} the state that was undone */
  redo() {
    return this.go(this.future, this.past);
  }

  /** @param {string[]} from @param {string[]} to */
  go(from, to) {
    const text = from.pop();
    if (text === undefined) return null;
    to.push(this.now);
    this.now = text;
    return JSON.parse(text);
  }
}
