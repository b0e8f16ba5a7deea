// The rows of the list of pods, broken ones first. A row need not be a pod: a manifest that makes none has one, too.
// Pure.

import { timeOf } from "../../cli/output/amounts.js";
import type { PodState } from "../../cli/pods/state.js";
import { podTone, type Tone } from "../../cli/pods/tone.js";
import type { ShownPod } from "../../cli/why/seen-pod.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { Usage } from "../../shared/contracts/status-page.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { podLink } from "../place.js";
import { compare } from "./parts.js";
import { podLimit } from "./usage.js";

export interface PodRow {
  key: string;
  name: string;
  namespace: string;
  /** Address of the row's own view; absent: it has none. */
  link?: string;
  state: { word: string; tone: Tone };
  ready: number;
  containers: number;
  restarts: number;
  usage?: Usage | undefined;
  limits: Usage;
  startedAt?: number | undefined;
  addresses: string[];
}

interface Known {
  usage: Usage | undefined;
  startedAt: number | undefined;
  word: string;
  row: PodRow;
}

const known = new WeakMap<Pod, Known>();

/**
 * Returns the previous row while its values are unchanged. `startedAt`: since when the pod is on this node; without it
 * its status counts.
 */
export function podRow(
  { pod, state }: ShownPod,
  usage: Usage | undefined,
  startedAt = timeOf(pod.status?.startTime),
): PodRow {
  const before = known.get(pod);
  // All else of the state is the pod's own.
  const { word } = state;
  if (before !== undefined && before.usage === usage && before.startedAt === startedAt && before.word === word) {
    return before.row;
  }
  const row = makeRow(pod, state, usage, startedAt);
  known.set(pod, { usage, startedAt, word, row });
  return row;
}

function makeRow(pod: Pod, state: PodState, usage: Usage | undefined, startedAt: number | undefined): PodRow {
  const { metadata, status } = pod;
  const { word, ready, containers, restarts } = state;
  const [cpu, memory] = [podLimit(pod, "cpu"), podLimit(pod, "memory")];
  return {
    key: metadata.uid,
    name: metadata.name,
    namespace: metadata.namespace,
    link: podLink(metadata.namespace, metadata.name),
    state: { word, tone: podTone(pod, state) },
    ready,
    containers,
    restarts,
    usage,
    limits: omitUndefined({ cpu, memory }),
    startedAt,
    addresses: (status?.podIPs ?? []).map(({ ip }) => ip),
  };
}

const WEIGHT: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, plain: 2, good: 2 };

export function weightOf({ state }: Pick<PodRow, "state">): number {
  return WEIGHT[state.tone];
}

/** Broken rows, then those on their way, then the others; each by namespace and name. */
export function brokenFirst(a: PodRow, b: PodRow): number {
  return weightOf(a) - weightOf(b) || compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

/** `word` in lower case. */
export function matches({ namespace, name, state, addresses }: PodRow, word: string): boolean {
  return `${namespace}/${name} ${state.word} ${addresses.join(" ")}`.toLowerCase().includes(word);
}
