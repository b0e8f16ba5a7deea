// Failpoints in containerd's spirit: "1*off->2*error(UNAVAILABLE: boom)->1*delay(500)->hang". Terms are used up from
// left to right; a term without a count stays for good; after the last one the failpoint is off.

import { CRI_CODES, type CriCode } from "../../src/shared/kubernetes/cri/errors.js";
import type { CriVerb } from "../../src/shared/kubernetes/cri/verbs.js";

export type Action =
  | { kind: "off" }
  | { kind: "error"; code: CriCode; text: string }
  | { kind: "delay"; ms: number }
  /** Until the caller gives up or the failpoint is replaced. */
  | { kind: "hang" }
  /** The runtime crashes and comes back at once: every connection drops. */
  | { kind: "panic" };

interface Term {
  action: Action;
  left: number;
}

export interface FailpointMatch {
  /** Name, UID or sandbox id of the pod. */
  pod?: string;
  /** Name or id of the container. */
  container?: string;
  /** "after": the call takes effect first, only its answer suffers. */
  when?: "before" | "after";
}

/** The object of a call, for matching. */
export interface CallTarget {
  pod: readonly string[];
  container: readonly string[];
}

export function parseFailpoint(spec: string): Term[] {
  return spec.split("->").map((part) => {
    const match = /^\s*(?:(\d+)\*)?(off|error|delay|hang|panic)(?:\((.*)\))?\s*$/s.exec(part);
    if (match === null)
      throw new Error(`failpoint term "${part}" is not [count*]off|error(CODE: text)|delay(ms)|hang|panic`);
    const [, count, kind = "off", argument = ""] = match;
    return { left: count === undefined ? Infinity : Number(count), action: parseAction(kind, argument) };
  });
}

function parseAction(kind: string, argument: string): Action {
  if (kind === "delay") {
    if (!/^\d+$/.test(argument)) throw new Error(`delay(${argument}): a number of milliseconds is needed`);
    return { kind, ms: Number(argument) };
  }
  if (kind === "error") {
    const [, code = "", text = ""] = /^([A-Z_]+):(.*)$/s.exec(argument) ?? ["", "UNKNOWN", argument];
    const known = CRI_CODES.find((name) => name === code);
    if (known === undefined) throw new Error(`error(${argument}): "${code}" is not a gRPC code`);
    return { kind, code: known, text: text.trimStart() };
  }
  return { kind: kind === "hang" || kind === "panic" ? kind : "off" };
}

interface Failpoint {
  terms: Term[];
  match: FailpointMatch;
  /** Aborts when the failpoint is replaced: hung calls go on. */
  replaced: AbortController;
}

export class Failpoints {
  readonly #points = new Map<CriVerb, Failpoint[]>();

  /** Sets a failpoint. One per verb and match: "off" without a match clears the verb. */
  set(verb: CriVerb, spec: string, match: FailpointMatch = {}): void {
    const key = JSON.stringify(match);
    const all = this.#points.get(verb) ?? [];
    const isReplaced = (point: Failpoint): boolean =>
      JSON.stringify(point.match) === key || (spec === "off" && Object.keys(match).length === 0);
    for (const point of all.filter(isReplaced)) point.replaced.abort();
    const rest = all.filter((point) => !isReplaced(point));
    if (spec !== "off") rest.push({ terms: parseFailpoint(spec), match, replaced: new AbortController() });
    this.#points.set(verb, rest);
  }

  /** All calls go on as usual, those that hang too. */
  clear(): void {
    for (const verb of this.#points.keys()) this.set(verb, "off");
  }

  /** Takes the next action for a call. */
  take(
    verb: CriVerb,
    target: CallTarget,
    when: "before" | "after",
  ): { action: Action; replaced: AbortSignal } | undefined {
    for (const { terms, match, replaced } of this.#points.get(verb) ?? []) {
      if ((match.when ?? "before") !== when) continue;
      if (match.pod !== undefined && !target.pod.includes(match.pod)) continue;
      if (match.container !== undefined && !target.container.includes(match.container)) continue;
      const term = terms.find((candidate) => candidate.left > 0);
      if (term === undefined) continue;
      term.left--;
      return { action: term.action, replaced: replaced.signal };
    }
    return undefined;
  }
}
