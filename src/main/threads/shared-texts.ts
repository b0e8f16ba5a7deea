// JSON of objects that several threads get in the same turn of the event loop.
// Invariant: no text is kept after the turn.

export class SharedTexts {
  private made: Map<object, string> | undefined;

  /** Makes each object's text once while `work` runs. */
  sharedIn(work: () => void): void {
    this.made = new Map();
    try {
      work();
    } finally {
      this.made = undefined;
    }
  }

  /** JSON of an object that does not change; `make` if it may be known elsewhere. */
  textOf<T extends object>(value: T, make: (value: T) => string = JSON.stringify): string {
    const known = this.made?.get(value);
    if (known !== undefined) return known;
    const text = make(value);
    this.made?.set(value, text);
    return text;
  }
}
