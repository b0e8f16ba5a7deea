// A line of waiters: first in, first out, and each may leave early. Every operation takes constant time. A Set would
// not, because it iterates over the removed entries at its front.

export interface Place<T> {
  readonly value: T;
  /** Once counts. */
  leave(): void;
}

interface Link<T> {
  value: T | undefined;
  previous: Link<T>;
  next: Link<T>;
}

export class WaitingLine<T extends object> {
  /** Before the first and after the last. */
  readonly #end: Link<T>;
  #size = 0;

  constructor() {
    const end = { value: undefined } as Link<T>;
    end.previous = end.next = end;
    this.#end = end;
  }

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#end.next.value;
  }

  add(value: T): Place<T> {
    const link: Link<T> = { value, previous: this.#end.previous, next: this.#end };
    link.previous.next = link;
    this.#end.previous = link;
    this.#size++;
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      link.previous.next = link.next;
      link.next.previous = link.previous;
      this.#size--;
    };
    return { value, leave };
  }
}
