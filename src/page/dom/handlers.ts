// Listeners of fields. There is one function per listener of a view, so that an update of the page does not replace it.

import type { Handler } from "./vnode.js";

const inputs = new WeakMap<(text: string) => void, Handler>();

export function onInput(listener: (text: string) => void): Handler {
  const known =
    inputs.get(listener) ?? ((event: Event) => listener((event.target as unknown as { value: string }).value));
  inputs.set(listener, known);
  return known;
}
