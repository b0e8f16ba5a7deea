// What a pass of the pod worker shows in the pod's status.
import type { StatusUpdate } from "../status/pod-statuses.js";
import type { SyncedPod } from "./pod-worker-port.js";

export function statusOfPass(synced: SyncedPod): StatusUpdate {
  const { pod, observed, plan, failures, state, mayRun, ended, end, inPostStart } = synced;
  const waiting = new Map<string, { reason: string; message: string }>(failures);
  for (const [name, { reason = "", message = "" }] of plan.waiting) waiting.set(name, { reason, message });
  const { restarting, restartingAll } = plan;
  return {
    ...{ pod, observed, waiting, mayRun, ended },
    final: plan.finished || state !== "syncing",
    ...(end?.cause === "failed" && end.failure !== undefined && { failure: end.failure }),
    ...(inPostStart !== undefined && { inPostStart }),
    ...(restarting !== undefined && { restarting }),
    ...(restartingAll !== undefined && { restartingAll }),
  };
}
