// What a run has reached: outcomes and orders of calls, calls that were under way at a fault, changes of status. The
// command adds up those of all seeds, and shows which faults have met which calls.

import type { CriVerb } from "../../../src/shared/kubernetes/cri/verbs.js";
import type { World } from "./world.js";

const ROWS = [
  "outcomes of calls",
  "orders of a pod's calls",
  "calls at a fault",
  "phases",
  "container states",
] as const;
type Row = (typeof ROWS)[number];

/** What was seen, by row; JSON. */
export type ReachedValues = Record<Row, string[]>;

/** Calls that change something: a fault may come while one is under way. */
export const CHANGING_VERBS: readonly CriVerb[] = [
  "RunPodSandbox",
  "CreateContainer",
  "StartContainer",
  "StopContainer",
  "RemoveContainer",
  "StopPodSandbox",
  "RemovePodSandbox",
  "PullImage",
];

const CHANGING = new Set<string>(CHANGING_VERBS);

interface ContainerStatus {
  name: string;
  state?: { waiting?: { reason?: string }; running?: object; terminated?: { reason?: string } };
}

export class Reached {
  private readonly seen = new Map<Row, Set<string>>(ROWS.map((row) => [row, new Set()]));
  /** The last changing call of each pod, by UID. */
  private readonly lastVerb = new Map<string, string>();
  /** The last state of each container, by pod UID and name. */
  private readonly states = new Map<string, string>();

  constructor(world: World) {
    const { runtime, api } = world;
    runtime.watchers.add((verb, request) => this.onCall(verb, world.podUidOf(request)));
    runtime.onEnd.add((verb, code) => this.add("outcomes of calls", `${verb} ${code}`));
    world.onFault.add((kind) => {
      for (const verb of runtime.verbsUnderWay())
        if (CHANGING.has(verb)) this.add("calls at a fault", `${kind} ${verb}`);
    });
    api.onPod(({ type, object, previous }) => {
      const uid = object.metadata.uid ?? "";
      const phase = (of: typeof object | undefined) => (of?.status as { phase?: string } | undefined)?.phase ?? "none";
      const next = type === "DELETED" ? "deleted" : phase(object);
      if (phase(previous) !== next) this.add("phases", `${phase(previous)} ${next}`);
      const status = (object.status ?? {}) as Record<string, ContainerStatus[] | undefined>;
      for (const container of [...(status["initContainerStatuses"] ?? []), ...(status["containerStatuses"] ?? [])])
        this.onState(`${uid}/${container.name}`, stateOf(container), type === "DELETED");
    });
  }

  values(): ReachedValues {
    return Object.fromEntries([...this.seen].map(([row, values]) => [row, [...values]])) as ReachedValues;
  }

  private onCall(verb: string, uid: string | undefined): void {
    if (uid === undefined || !CHANGING.has(verb)) return;
    this.add("orders of a pod's calls", `${this.lastVerb.get(uid) ?? "none"} ${verb}`);
    if (verb === "RemovePodSandbox") this.lastVerb.delete(uid);
    else this.lastVerb.set(uid, verb);
  }

  private onState(key: string, state: string, isLast: boolean): void {
    const before = this.states.get(key) ?? "none";
    if (before !== state) this.add("container states", `${before} ${state}`);
    if (isLast) this.states.delete(key);
    else this.states.set(key, state);
  }

  private add(row: Row, what: string): void {
    this.seen.get(row)?.add(what);
  }
}

function stateOf({ state }: ContainerStatus): string {
  if (state?.running !== undefined) return "running";
  if (state?.terminated !== undefined) return `terminated:${state.terminated.reason ?? ""}`;
  return `waiting:${state?.waiting?.reason ?? ""}`;
}
