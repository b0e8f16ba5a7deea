// An attack of the bench: it starts, continues for some seconds, and stops by itself. Invariant: an attack reaches only
// loopback and the tests' own namespace. Every loop of it is bounded, and it reports its real actions.

import type { HostileBench } from "./bench.js";

type Family = "tenant" | "unauthorised client" | "API server" | "runtime" | "node plugin";

export interface Attack {
  name: string;
  family: Family;
  /** Duration after the start. */
  seconds: number;
  /** Also part of `npm test`; all others only of `npm run test:hostile`. */
  short?: true;
  /** The attack ends a thread by design; its restart is no failure. */
  endsThread?: true;
  /** What upstream's kubelet did with the same, where somebody ran it (docs/security.md). */
  upstream?: string;
  start(bench: HostileBench): Promise<RunningAttack>;
}

export interface RunningAttack {
  /**
   * Ends it, removes what it made, and says in a few words what it did. Throws when it did nothing: then it proves
   * nothing.
   */
  stop(): Promise<string>;
}

/** Effect of one attack on the bystanders. */
export interface Row {
  family: Family;
  attack: string;
  /** What was sent, as text. */
  did: string;
  /** The longest gap between two probes of the normal pod, beyond their period. */
  probeLateMs: number;
  /** Gap of a process that probes without the kubelet, for that kind of probe, beyond the period. */
  directLateMs: number;
  /** The operator's slowest call. */
  operatorMs: number;
  /** The p99 of the operator's calls. */
  operatorP99Ms: number;
  /** The slowest exec, statistics of the runtime and page of that process, in the same time. */
  directExecMs: number;
  directStatsMs: number;
  directPageMs: number;
  mainDelayMs: number;
  /**
   * Most CPU time of main within a period as long as its longest delay. Main can cause at most this part of the delay.
   */
  mainCpuMs: number;
  /**
   * Longest delay of an idle process of the kubelet's niceness in the same time: the machine's part of main's delay.
   */
  idleDelayMs: number;
  threadRestarts: number;
  hasProcessDied: boolean;
  upstream?: string;
  rssBeforeMiB: number;
  rssAfterMiB: number;
  /** Rules that were broken; empty: the promise was kept. */
  broken: string[];
  /** Bounds of the promise that were missed, but not by so much that a busy machine can't explain it. */
  missed: string[];
}

/**
 * NODELET_HOSTILE: `whole` is every attack at its full size, `each` every attack, small; without it the short ones
 * only.
 */
const EXTENT = process.env["NODELET_HOSTILE"];

export function isChosen({ name, short }: Pick<Attack, "name" | "short">): boolean {
  const only = process.env["NODELET_HOSTILE_ONLY"];
  if (only !== undefined) return only.split(";").some((part) => name.includes(part));
  return short === true || EXTENT === "whole" || EXTENT === "each";
}

/** `whole` with `npm run test:hostile`, `short` else. */
export function size(short: number, whole: number): number {
  return EXTENT === "whole" ? whole : short;
}
