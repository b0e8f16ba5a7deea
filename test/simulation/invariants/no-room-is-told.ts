// A pod whose image, sandbox or container finds no room on the runtime's disk says so: by the waiting reason of the
// container, or by an event. Asked while no other fault disturbs the node.

import { kernel } from "../kernel/kernel.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { NODE_NAME } from "../world/api.js";
import { podNameOf, type PodFacts } from "../world/pod-facts.js";
import { NO_ROOM } from "../world/runtime-room.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

/** The status has reached the API server. */
const TOLD_MS = 5000;
/** The longest other fault, and what comes of it. */
const QUIET_MS = 60_000;
/** Events of one reason and pod that come more often may be left out, as upstream. */
const FIRST_EVENTS = 10;

interface Waiting {
  reason?: string;
  message?: string;
}
interface ContainerStatus {
  state?: { waiting?: Waiting; terminated?: Waiting };
  lastState?: { terminated?: Waiting };
}
interface Status {
  phase?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
}

/** Whether a status of a container says that the call found no room. */
const SAYS: Readonly<Record<string, (status: ContainerStatus) => boolean>> = {
  PullImage: ({ state }) => waits(state?.waiting, ["ErrImagePull", "ImagePullBackOff"]),
  CreateContainer: ({ state }) => waits(state?.waiting, ["CreateContainerError"]),
  StartContainer: ({ state, lastState }) =>
    waits(state?.waiting, ["RunContainerError"]) ||
    waits(state?.terminated, ["StartError"]) ||
    waits(lastState?.terminated, ["StartError"]),
};

interface Refused {
  verb: string;
  name: string;
  pod: PodFacts;
  uid: string | undefined;
  atMs: number;
}

export const noRoomIsTold: Invariant = {
  name: "pods say that the runtime has no room",
  promisedBy: "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/",
  watch(world, broken) {
    // The API of a node without a cluster has its statuses on the disk that is full.
    if (world.room === undefined || world.own !== undefined) return undefined;
    const { runtime, api, facts, onLog } = world;
    /** Statuses of each pod, by the name of its object, since the last look. */
    const seen = new Map<string, { atMs: number; status: Status }[]>();
    api.onPod(({ object: { metadata, status = {} } }) => {
      const after = kernel.monotonic - TOLD_MS;
      const before = (seen.get(metadata.name) ?? []).filter(({ atMs }) => atMs >= after);
      seen.set(metadata.name, [...before, { atMs: kernel.monotonic, status }]);
    });
    const events = new Map<string, { atMs: number; count: number }>();
    onLog.add(({ msg }) => {
      const [, name] = /^event FailedCreatePodSandBox of pod ([^_]+)_/.exec(msg) ?? [];
      if (name === undefined || !msg.includes(NO_ROOM)) return;
      events.set(name, { atMs: kernel.monotonic, count: (events.get(name)?.count ?? 0) + 1 });
    });
    const isTold = ({ verb, name, pod, atMs }: Refused, objectName: string): boolean => {
      const event = events.get(objectName);
      if (verb === "RunPodSandbox") return event !== undefined && (event.atMs >= atMs || event.count > FIRST_EVENTS);
      const { status = {} } = api.store.get("pods", namespaceOf(pod.shape), objectName) ?? {};
      const all = [...(seen.get(objectName) ?? []).map((one) => one.status), status as Status];
      const says = SAYS[verb];
      if (says === undefined) throw new Error(`${verb} of ${name} needs no room`);
      return all.some(({ phase = "", initContainerStatuses = [], containerStatuses = [] }) => {
        const isOver = ["Failed", "Succeeded"].includes(phase);
        return isOver || [...initContainerStatuses, ...containerStatuses].some(says);
      });
    };
    runtime.onEnd.add((verb, code, request, details) => {
      const name = podNameOf(labelsOf(world, request));
      const pod = facts.pods.get(name);
      if (code === "OK" || !details.includes(NO_ROOM) || pod === undefined) return;
      const refused: Refused = { verb, name, pod, uid: world.podUidOf(request), atMs: kernel.monotonic };
      kernel.after(kernel.world, TOLD_MS, () => {
        const objectName = pod.shape.isStatic ? `${name}-${NODE_NAME}` : name;
        if (isAsked(world, refused) && !isTold(refused, objectName)) report(world, refused, objectName, broken);
      });
    });
    return undefined;
  },
};

function waits({ reason = "", message = "" }: Waiting = {}, reasons: readonly string[]): boolean {
  return reasons.includes(reason) && message.includes(NO_ROOM);
}

function labelsOf({ runtime }: World, request: unknown): Readonly<Record<string, string>> {
  const { config, sandboxConfig, containerId } = request as Record<
    "config" | "sandboxConfig",
    { labels?: Record<string, string> } | undefined
  > & { containerId?: string };
  const container = runtime.state.containers.get(containerId ?? "");
  return sandboxConfig?.labels ?? config?.labels ?? container?.config.labels ?? {};
}

/** Nothing else changes the pod. */
function isAsked({ facts, kubelet }: World, { name, pod, atMs }: Refused): boolean {
  const { deletedAt, editedAt = -Infinity } = pod;
  const isSame = facts.pods.get(name) === pod && deletedAt === undefined && editedAt < atMs - QUIET_MS;
  const runs = kubelet?.isAlive === true && (facts.startedAt ?? Infinity) < atMs - TOLD_MS;
  return isSame && runs && facts.lastDisturbedAt < atMs - QUIET_MS;
}

function report({ api }: World, { verb, name, pod }: Refused, objectName: string, broken: Broken): void {
  const { status = {} } = api.store.get("pods", namespaceOf(pod.shape), objectName) ?? {};
  broken(`${verb} found no room, and the pod does not say so: ${JSON.stringify(status).slice(0, 600)}`, name);
}
