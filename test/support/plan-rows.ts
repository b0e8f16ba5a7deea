// Tables of decisions as data: a pod and its runtime state in few words, the plan as short lines.

import { containerHash } from "../../src/main/model/container-hash.js";
import { CrashBackoff } from "../../src/main/model/crash-backoff.js";
import type { ResizeView } from "../../src/main/model/pod-resources.js";
import type { ProbeResult } from "../../src/main/model/probe-results.js";
import { defaultRestartGates, type RestartGates } from "../../src/main/model/restart.js";
import type { Plan, Step } from "../../src/main/model/step.js";
import { planPod } from "../../src/main/pods/planner/plan.js";
import { RestartMemory } from "../../src/main/pods/planner/restart-memory.js";
import { steadyTime } from "../../src/shared/base/clock/moments.js";
import type { Container, Pod } from "../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  ContainerStatus,
  NamespaceMode,
  PodSandboxState,
  PodSandboxStatus,
} from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedPod,
  observedContainer,
  observedSandbox,
  type ObservedContainer,
  type ObservedSandbox,
} from "../../src/shared/kubernetes/cri/observed-pod.js";
import { containerIdOf } from "../../src/shared/kubernetes/identifiers.js";

export const NOW = 1_700_000_000_000;

/**
 * "running", "created", "unknown", "exited CODE"; "changed" behind it: made from another definition; "old": in the
 * sandbox before.
 */
export type Seen = Readonly<Record<string, string>>;

export interface Situation {
  pod: Pod;
  /** Name to state. */
  seen?: Seen;
  /** "PROBE NAME" to result. */
  probes?: Readonly<Record<string, ProbeResult>>;
  /** Attempt and state of the sandboxes, newest first: "1 ready", "0 dead", "0 no-ip", "0 host". */
  sandboxes?: readonly string[];
  /** Names of containers that were stopped in order to be started again. */
  restarting?: readonly string[];
  /** Those among them that get new resources by it. */
  resizing?: readonly string[];
  gates?: Partial<RestartGates>;
  /** The containers' last set resources, and the end of a failed resize's back-off. */
  resize?: ResizeView;
}

export function planOf(situation: Situation): Plan {
  const { pod, seen = {}, probes = {}, sandboxes = ["0 ready"], gates, resize } = situation;
  const { restarting = [], resizing = [] } = situation;
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  const observed: ObservedPod = {
    uid: pod.metadata.uid,
    name: pod.metadata.name,
    namespace: pod.metadata.namespace,
    sandboxes: sandboxes.map(sandboxOf),
    containers: Object.entries(seen).map(([name, state]) => containerOf(name, state, all)),
    generation: 1,
    observedAt: NOW,
  };
  const memory = new RestartMemory();
  for (const name of restarting) {
    const kill = { kind: "kill-container", containerId: containerIdOf(idOf(name)), name, reason: "" } as const;
    const forResize = resizing.includes(name) ? ({ forResize: true } as const) : {};
    memory.record({ ...kill, graceSeconds: 2, deadline: steadyTime(NOW + 2000), restart: true, ...forResize });
  }
  const result = (probe: string) => (id: string) => probes[`${probe} ${id.slice(3)}`];
  return planPod({
    pod,
    observed,
    now: steadyTime(NOW),
    backoff: new CrashBackoff(),
    startFailures: new Map(),
    probes: { startup: result("startup"), readiness: result("readiness"), liveness: result("liveness") },
    gates: { ...defaultRestartGates, ...gates },
    memory,
    ...(resize !== undefined && { resize }),
  });
}

/** "start a", "kill a 30s: why", "create-sandbox 1", "remove a", … */
export function lines({ steps, finished }: Plan): string[] {
  return [...steps.map(line), ...(finished ? ["finished"] : [])];
}

function line(step: Step): string {
  switch (step.kind) {
    case "start-container":
      return `start ${step.container.name}`;
    case "kill-container":
      return `kill ${step.name} ${step.graceSeconds}s: ${step.reason}`;
    case "create-sandbox":
      return `create-sandbox ${step.attempt}`;
    case "resize-containers":
      return `resize ${step.containers.map(({ container }) => container.name).join(" ")}`;
    case "remove-container":
      return `remove ${step.name}`;
    default:
      return step.kind;
  }
}

const idOf = (name: string): string => `id-${name}`;

function sandboxOf(text: string, index: number): ObservedSandbox {
  const [attempt = "0", state = "ready"] = text.split(" ");
  const host = state === "host";
  return observedSandbox(
    PodSandboxStatus.fromPartial({
      id: `sandbox-${attempt}`,
      metadata: { attempt: Number(attempt) },
      state: state === "dead" ? PodSandboxState.SANDBOX_NOTREADY : PodSandboxState.SANDBOX_READY,
      createdAt: nanos(NOW - 60_000 - index * 60_000),
      network: { ip: host || state === "no-ip" ? "" : "10.88.0.2" },
      linux: { namespaces: { options: { network: host ? NamespaceMode.NODE : NamespaceMode.POD } } },
    }),
  );
}

function containerOf(name: string, text: string, all: readonly Container[]): ObservedContainer {
  const words = text.split(" ");
  const container = all.find((one) => one.name === name) ?? { name };
  const at = NOW - (words.includes("old") ? 90_000 : 30_000);
  const exited = words[0] === "exited";
  return observedContainer(
    ContainerStatus.fromPartial({
      id: idOf(name),
      metadata: { name, attempt: 0 },
      state: stateOf(words[0]),
      exitCode: exited ? Number(words[1]) : 0,
      createdAt: nanos(at),
      startedAt: words[0] === "created" ? 0n : nanos(at),
      finishedAt: exited ? nanos(at + 10_000) : 0n,
      annotations: {
        "io.kubernetes.container.hash": words.includes("changed") ? "0" : containerHash(container),
        "io.kubernetes.container.restartCount": "0",
      },
    }),
  );
}

const STATES: Readonly<Record<string, ContainerState>> = {
  running: ContainerState.CONTAINER_RUNNING,
  created: ContainerState.CONTAINER_CREATED,
  unknown: ContainerState.CONTAINER_UNKNOWN,
  exited: ContainerState.CONTAINER_EXITED,
};

function stateOf(word = ""): ContainerState {
  const state = STATES[word];
  if (state === undefined) throw new Error(`no container state is called "${word}"`);
  return state;
}

const nanos = (ms: number): bigint => BigInt(ms) * 1_000_000n;
