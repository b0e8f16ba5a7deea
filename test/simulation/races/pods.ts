// Pods of the races, and what happened to them.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import type { PodShape } from "../plan/pod-shapes.js";
import { NODE_NAME } from "../world/api.js";
import { podNameOf } from "../world/pod-facts.js";
import { IMAGES } from "../world/runtime.js";
import { commandOf, type Script } from "../world/scripts.js";
import type { World } from "../world/world.js";

interface Wanted {
  name: string;
  script?: Partial<Script>;
  /** What a second container, "beside", does; absent: there is none. */
  beside?: Partial<Script>;
  /** Members of the container. */
  container?: Record<string, unknown>;
  /** Members of the spec. */
  spec?: Record<string, unknown>;
  graceSeconds?: number;
  /** It runs until it is stopped, and becomes ready. */
  isSteady?: boolean;
  /** It has a manifest; the UID is that of the manifest, if given. */
  static?: { uid?: string };
}

/** A pod with the container "main". */
export function podOf({
  name,
  script = {},
  beside,
  container,
  spec,
  graceSeconds = 10,
  isSteady,
  ...rest
}: Wanted): PodShape {
  const main = { name: "main", image: IMAGES[0], command: commandOf(script), ...container };
  const others = beside === undefined ? [] : [{ name: "beside", image: IMAGES[0], command: commandOf(beside) }];
  return {
    name,
    kind: "service",
    isStatic: rest.static !== undefined,
    uid: rest.static?.uid,
    graceSeconds,
    isSteady: isSteady ?? script.runsMs === undefined,
    hasDeadline: false,
    spec: {
      terminationGracePeriodSeconds: graceSeconds,
      automountServiceAccountToken: false,
      ...spec,
      containers: [main, ...others],
    },
  };
}

/** The name of a static pod's object in the API. */
export const mirrorOf = (name: string): string => `${name}-${NODE_NAME}`;

export interface Happened {
  verb: string;
  /** UID of the pod. */
  uid: string | undefined;
  atMs: number;
}

/** The calls about the pod of that name that change something, as they come. */
export function callsOf(world: World, name: string): Happened[] {
  const calls: Happened[] = [];
  world.runtime.watchers.add((verb, request) => {
    const { config } = request as { config?: { labels?: Record<string, string> } };
    const uid = world.podUidOf(request);
    const labels = config?.labels ?? labelsOf(world, uid);
    if (podNameOf(labels) !== name || /Status$|^List|^ExecSync$/.test(verb)) return;
    calls.push({ verb, uid, atMs: kernel.monotonic });
  });
  return calls;
}

function labelsOf({ runtime }: World, uid: string | undefined): Readonly<Record<string, string>> {
  const sandboxes = [...runtime.state.sandboxes.values()];
  return sandboxes.find(({ config }) => config.metadata?.uid === uid)?.config.labels ?? {};
}

/** Starts and ends of containers of the pod of that name, as they happen. */
export function runsOf(world: World, name: string): { id: string; did: "start" | "end"; atMs: number }[] {
  const { state } = world.runtime;
  const runs: { id: string; did: "start" | "end"; atMs: number }[] = [];
  state.eventListeners.add(({ containerId, containerEventType }) => {
    const container = state.containers.get(containerId);
    if (container === undefined || podNameOf(container.config.labels) !== name) return;
    const atMs = kernel.monotonic;
    if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT)
      runs.push({ id: containerId, did: "start", atMs });
    if (containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT)
      runs.push({ id: containerId, did: "end", atMs });
  });
  return runs;
}

/** States of the pod's object in the API, as they come. */
export interface Seen {
  type: string;
  uid: string;
  phase: string;
  isReady: boolean;
  isDeleting: boolean;
  atMs: number;
}

export function objectsOf({ api }: World, name: string): Seen[] {
  const seen: Seen[] = [];
  api.onPod(({ type, object }) => {
    const { metadata, status } = object;
    if (metadata.name !== name) return;
    const { phase = "", conditions = [] } = (status ?? {}) as {
      phase?: string;
      conditions?: { type: string; status: string }[];
    };
    seen.push({
      type,
      uid: metadata.uid ?? "",
      phase,
      isReady: conditions.some((one) => one.type === "Ready" && one.status === "True"),
      isDeleting: metadata.deletionTimestamp !== undefined,
      atMs: kernel.monotonic,
    });
  });
  return seen;
}
