// The API server knows of a shutdown: the node is not ready, a new pod is rejected, and each pod that ended for it says
// so before the machine goes off. After the boot, or a shutdown that was cancelled, the node is ready.

import { kernel } from "../kernel/kernel.js";
import { namespaceOf } from "../plan/pod-shapes.js";
import { NODE_NAME } from "../world/api.js";
import { podNameOf, type PodFacts } from "../world/pod-facts.js";
import type { Shutdown } from "../world/shutdowns.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";
import { watchEnds, type ShutdownEnds } from "./shutdown-ends.js";

const MESSAGE = "Pod was terminated in response to imminent node shutdown.";
const REJECTION = "Pod was rejected: Pod was rejected as the node is shutting down.";
/** The kubelet has heard of the shutdown, and the API server of it. */
const TOLD_MS = 5000;
/** The node is ready again. */
const READY_MS = 15_000;
/** A thread, or the whole process, may stand still, and the bus or the API server be away. */
const LATE_MS = 180_000;

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
interface Status {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: Condition[];
}

export const shutdownsAreTold: Invariant = {
  name: "the API server knows of a shutdown",
  promisedBy: "https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/",
  watch(world, broken) {
    const { shutdowns, api } = world;
    if (shutdowns === undefined) return undefined;
    const isUnderWay = (shutdown: Shutdown): boolean => shutdown.isCalm && shutdown.isOver !== true;
    const ready = (): Condition | undefined => {
      const { conditions = [] } = (api.store.get("nodes", "", NODE_NAME)?.status ?? {}) as Status;
      return conditions.find(({ type }) => type === "Ready");
    };
    const checkReady = (when: string): void => {
      const condition = ready();
      if (condition?.status !== "True") broken(`the node is not ready ${when}: ${JSON.stringify(condition)}`);
    };
    shutdowns.onBegin.add((shutdown) => {
      kernel.after(kernel.world, TOLD_MS, () => {
        const { status, reason, message = "" } = ready() ?? {};
        if (!isUnderWay(shutdown) || shutdown.wentAt !== undefined) return;
        if (status !== "False" || reason !== "KubeletNotReady" || !message.includes("node is shutting down"))
          broken(`the node is ${status} ${reason} "${message}" ${TOLD_MS} ms after a shutdown began`);
      });
    });
    const current = watchEnds(world);
    shutdowns.onOff.add(() => {
      const ends = current();
      if (ends === undefined) return;
      for (const [name, pod] of world.facts.pods) checkPod(world, ends, { name, pod }, broken);
    });
    shutdowns.onCancel.add((shutdown) => {
      kernel.after(kernel.world, READY_MS, () => {
        if (shutdown.isCalm && shutdowns.last === shutdown) checkReady("after a shutdown that was cancelled");
      });
    });
    api.onPod(({ object, previous }) => {
      const status = (object.status ?? {}) as Status;
      if (status.reason !== (previous?.status as Status | undefined)?.reason)
        checkStatus(world, object.metadata.name, status, broken);
    });
    world.runtime.watchers.add((verb, request) => {
      const { last } = shutdowns;
      if (verb !== "RunPodSandbox" || last === undefined || !isUnderWay(last)) return;
      const { config } = request as { config?: { labels?: Record<string, string> } };
      const name = podNameOf(config?.labels ?? {});
      const { createdAt = 0 } = world.facts.pods.get(name) ?? {};
      if (createdAt > last.beganAt + TOLD_MS) broken("a pod that came during a shutdown is started", name);
    });
    return () => {
      if (shutdowns.last === undefined || shutdowns.last.isOver === true) checkReady("after all faults");
    };
  },
};

/** What a status says of a shutdown is upstream's text, and there was one. */
function checkStatus({ facts }: World, name: string, status: Status, broken: Broken): void {
  const { phase, reason, message, conditions = [] } = status;
  if (reason === "Terminated") {
    const target = conditions.find(({ type }) => type === "DisruptionTarget");
    if (phase !== "Failed" || message !== MESSAGE) broken(`the pod is ${phase} Terminated "${message}"`, name);
    if (target?.status !== "True" || target.reason !== "TerminationByKubelet" || target.message !== MESSAGE)
      broken(`the pod ended for a shutdown, and its DisruptionTarget is ${JSON.stringify(target)}`, name);
    if (facts.lastShutdownAt === -Infinity) broken("the pod ended for a shutdown that there was not", name);
  }
  if (reason !== "NodeShutdown") return;
  if (phase !== "Failed" || message !== REJECTION) broken(`the pod is ${phase} NodeShutdown "${message}"`, name);
  if (kernel.monotonic - facts.lastShutdownAt > LATE_MS) broken("the pod is rejected long after a shutdown", name);
}

/** The machine goes off. */
function checkPod(
  { api }: World,
  ends: ShutdownEnds,
  { name, pod }: { name: string; pod: PodFacts },
  broken: Broken,
): void {
  const { shape, createdAt, deletedAt } = pod;
  const { beganAt } = ends.shutdown;
  if (deletedAt !== undefined || kernel.monotonic - createdAt < TOLD_MS) return;
  const object = api.store.get("pods", namespaceOf(shape), shape.isStatic ? `${name}-${NODE_NAME}` : name);
  const { phase = "", reason = "" } = (object?.status ?? {}) as Status;
  // It ended at the moment at which the time of its group was over.
  const hasJustEnded = kernel.monotonic - (ends.endedAt.get(name) ?? -Infinity) < TOLD_MS;
  const group = ends.groupOf(shape);
  if (ends.runs(name) || !ends.hasTime(group) || (hasJustEnded && ends.isOutOfTime(group))) return;
  // A static pod runs again after the boot, even if its mirror pod shows an end.
  if (!shape.isStatic && !["Failed", "Succeeded"].includes(phase))
    broken(`the pod has ended, and is ${phase} ${reason} as the machine goes off`, name);
  if (!shape.isStatic && createdAt > beganAt + TOLD_MS && reason !== "NodeShutdown")
    broken(`the pod came during a shutdown, and is ${phase} ${reason}`, name);
}
