// $(NAME) references in environment values, commands and arguments.
// Invariant: the work is linear in any text of a pod's author; the text that references add is bounded.
// Values may refer to values that were expanded before, so that forty lines of environment could mean terabytes.

import { CreateContainerConfigError } from "./container-config-error.js";

const DOLLAR = "$".charCodeAt(0);

/**
 * Linux starts no process with more than 6 MiB of arguments and environment (three quarters of the 8 MiB of a stack).
 */
export const MAX_SUBSTITUTED = 6 * 1024 * 1024;

/** Characters that expansions may still add to the texts of one container, shared by all texts of one call. */
export class ExpansionBudget {
  #left = MAX_SUBSTITUTED;

  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    throw new CreateContainerConfigError(
      `references like $(NAME) expand to more than ${MAX_SUBSTITUTED} characters: no process can be started with that`,
    );
  }
}

/**
 * Expands references in one pass. "$(NAME)" becomes the value, or stays if `lookup` has no such name; "$$" becomes "$"
 * and is no part of a reference, so "$$(NAME)" becomes "$(NAME)"; every other "$" stays. Values are not expanded again.
 * Throws CreateContainerConfigError when the budget is spent.
 */
export function expand(
  input: string,
  lookup: (name: string) => string | undefined,
  budget = new ExpansionBudget(),
): string {
  // A reference that is not closed is plain text. Behind the last bracket no search is made: each would read to the
  // end.
  const lastClose = input.lastIndexOf(")");
  let out = "";
  let from = 0;
  let search = 0;
  for (;;) {
    const at = input.indexOf("$(", search);
    if (at === -1 || at + 1 >= lastClose) return out + withoutEscapes(input.slice(from));
    search = at + 2;
    if (isEscaped(input, from, at)) continue;
    const close = input.indexOf(")", search);
    const value = lookup(input.slice(search, close));
    if (value !== undefined) budget.spend(value.length);
    out += withoutEscapes(input.slice(from, at)) + (value ?? input.slice(at, close + 1));
    from = search = close + 1;
  }
}

/** An odd number of "$" before this one: the last of them escapes it. */
function isEscaped(input: string, from: number, at: number): boolean {
  let first = at;
  while (first > from && input.charCodeAt(first - 1) === DOLLAR) first--;
  return (at - first) % 2 === 1;
}

/** By V8's own loops: code that is not optimized yet takes ten times as long. */
function withoutEscapes(text: string): string {
  return text.includes("$$") ? text.split("$$").join("$") : text;
}

/** As `expand`, and lists the unresolved names, for places where an unresolved reference is an error. */
export function expandStrict(
  input: string,
  lookup: (name: string) => string | undefined,
  budget = new ExpansionBudget(),
): { text: string; missing: string[] } {
  const missing: string[] = [];
  const find = (name: string): string | undefined => {
    const value = lookup(name);
    if (value === undefined || value === "") missing.push(name);
    return value;
  };
  return { text: expand(input, find, budget), missing };
}
