// Which messages a root reaches, and their short names: "Pod" for "core.Pod". Where two packages have a name, the first
// root of roots.ts that reaches one of them has it, and the other keeps its package.

import type { Contract, Message } from "./contract.js";
import { PARTS, ROOTS } from "./roots.js";

const SCALARS = new Set(["string", "bool", "int32", "int64", "bytes"]);

export function isScalar(type: string): boolean {
  return SCALARS.has(type);
}

/** The message and all below it, nearest first. */
export function reachable({ messages }: Contract, root: string): Message[] {
  const found = new Map<string, Message>();
  const queue = [root];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const message = messages.get(name);
    if (message === undefined || found.has(name)) continue;
    found.set(name, message);
    queue.push(...message.fields.map(({ type }) => type).filter((type) => !isScalar(type)));
  }
  return [...found.values()];
}

/** Full names of the objects, in the order of roots.ts. */
export function objectNames(): string[] {
  return ROOTS.flatMap(({ package: name, kinds }) => kinds.map((kind) => `${name}.${kind}`));
}

/** Full names of the roots, in the order of roots.ts. */
export function rootNames(): string[] {
  return [...new Set([...objectNames(), ...PARTS])];
}

/** Without its package. */
export function shortOf(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/** Short names by full ones. Special lists of strings are one message, whatever their package calls them. */
export function shortNames(contract: Contract): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const message of rootNames().flatMap((root) => reachable(contract, root))) {
    if (names.has(message.name)) continue;
    if (isTextList(message)) {
      names.set(message.name, "ExtraValue");
      continue;
    }
    const short = shortOf(message.name);
    const name = taken.has(short) ? message.name : short;
    taken.add(name);
    names.set(message.name, name);
  }
  return names;
}

function isTextList({ fields: [first, ...rest] }: Message): boolean {
  return first?.form === "special" && first.kind === "list" && first.type === "string" && rest.length === 0;
}
