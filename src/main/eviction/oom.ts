// What the kernel's OOM killer did, told where it belongs: a machine without memory is the node's event, a container at its limit
// shows in its own status (the runtime says so), and is named in the log.
import { podDescription, type Pod } from "../../shared/api/pod.js";
import type { EvictionRecord } from "../../shared/contracts/eviction.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Logger } from "../../shared/log/logger.js";
import type { EventRecorder } from "../events/recorder.js";

export type OomRecord = Extract<EvictionRecord, { kind: "oom" }>;

export interface OomDeps {
  pod: (uid: string) => Pod | undefined;
  observed: (uid: string) => ObservedPod | undefined;
  events: Pick<EventRecorder, "node">;
  log: Pick<Logger, "warn">;
}

export function tellOom({ pod, observed, events, log }: OomDeps, record: OomRecord): void {
  const { pid, process, cgroup, podUid, containerId } = record;
  const owner = podUid === undefined ? undefined : pod(podUid);
  const seen = podUid === undefined ? undefined : observed(podUid);
  const container = seen?.containers.find(({ id }) => id === containerId)?.metadata?.name;
  if (cgroup === "/") {
    const message = `System OOM encountered, victim process: ${process}, pid: ${pid}`;
    events.node({ type: "Warning", reason: "SystemOOM", message });
  }
  const whose = [
    ...(owner === undefined ? [] : [`of pod ${podDescription(owner)}`]),
    ...(container === undefined ? [] : [`container ${container}`]),
  ].join(", ");
  const where = cgroup === "/" ? "the machine is out of memory" : `cgroup ${cgroup} is at its memory limit`;
  log.warn(
    { pid, process, cgroup, uid: podUid, container, containerId, at: record.at },
    `the kernel killed process ${process} (pid ${pid})${whose === "" ? "" : ` ${whose}`}: ${where}`,
  );
}
