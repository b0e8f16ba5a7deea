// Reports kills by the kernel's OOM killer. A node out of memory gets a Node event. A container at its limit shows
// OOMKilled in its own status, which the runtime sets, and the log names it.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { EvictionRecord } from "../../../shared/contracts/eviction.js";
import { type Pod, podDescription } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import type { EventRecorder } from "../../model/event-recorder.js";

type OomRecord = Extract<EvictionRecord, { kind: "oom" }>;

export interface OomDeps {
  pod: (uid: PodUid) => Pod | undefined;
  observed: (uid: PodUid) => ObservedPod | undefined;
  events: Pick<EventRecorder, "node">;
  log: Pick<Logger, "warn">;
}

export function reportOom({ pod, observed, events, log }: OomDeps, record: OomRecord): void {
  const { pid, process, cgroup, podUid: uid, containerId, at } = record;
  const seen = uid === undefined ? undefined : observed(uid);
  const container = seen?.containers.find(({ id }) => id === containerId)?.metadata?.name;
  const known = pid !== 0;
  if (cgroup === "/") {
    const victim = known ? `, victim process: ${process}, pid: ${pid}` : "";
    events.node({ type: "Warning", reason: "SystemOOM", message: `System OOM encountered${victim}` });
  }
  const of = [
    ...(uid === undefined ? [] : [podText(uid, pod(uid), seen)]),
    ...(container === undefined ? [] : [`container ${container}`]),
  ].join(", ");
  const who = known ? `process ${process} (pid ${pid})` : "a process";
  log.warn(
    omitUndefined({
      pid: known ? pid : undefined,
      process: known ? process : undefined,
      cgroup,
      uid,
      container,
      containerId,
      at,
    }),
    `the kernel killed ${who}${of === "" ? "" : ` of ${of}`}: ${reasonText(cgroup)}`,
  );
}

/** The name of a pod that was removed meanwhile comes from the last state of the runtime. */
function podText(uid: PodUid, pod: Pod | undefined, seen: ObservedPod | undefined): string {
  if (pod !== undefined) return `pod ${podDescription(pod)}`;
  const { name = "", namespace = "" } = seen ?? {};
  return name === "" ? `pod ${uid}` : `pod ${podDescription({ metadata: { uid, name, namespace } })}`;
}

function reasonText(cgroup: string): string {
  switch (cgroup) {
    case "/":
      return "the machine is out of memory";
    case "":
      return "it, or a cgroup above its own, was at its memory limit";
    default:
      return `cgroup ${cgroup} is at its memory limit`;
  }
}
