// What the status of a pod is computed from, with the settings of the node.

import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { StatusInput } from "./compute-pod-status.js";
import type { PodStatusesDeps, StatusUpdate } from "./pod-statuses.js";

interface Given {
  update: StatusUpdate;
  /** With its status in the API server. */
  pod: Pod;
  previous: PodStatus | undefined;
  terminationMessages: NonNullable<StatusInput["terminationMessages"]>;
}

export function statusInput(
  deps: PodStatusesDeps,
  { update, pod, previous, terminationMessages }: Given,
): StatusInput & { now: number } {
  const { observed, waiting, final, inPostStart, restarting, restartingAll, failure, mayRun } = update;
  const resize = deps.resize(pod.metadata.uid);
  const { resourceHealth } = deps;
  return {
    pod,
    observed,
    previous,
    startErrors: waiting,
    nodeIPs: deps.nodeIPs(),
    runtimeName: deps.runtimeName(),
    now: deps.clock.now(),
    qosClass: deps.qosClass(pod),
    podFinal: final,
    // While the pod runs, its containers alone determine the reported phase.
    failure: failure !== undefined && !mayRun ? failure : undefined,
    probes: deps.probes,
    terminationMessages,
    inPostStart,
    gates: deps.gates,
    podLevelResources: deps.podLevelResources,
    stopSignals: deps.stopSignals,
    imageVolumeDigests: deps.imageVolumeDigests,
    recursiveReadOnly: deps.recursiveReadOnly?.(pod) === true,
    volumesMissing: () => deps.volumesSetUp?.(pod) === false,
    changesOnRestart: deps.changesOnRestart,
    resourceHealth: resourceHealth !== undefined ? (container) => resourceHealth(pod, container) : undefined,
    resizeConditions: resize.conditions,
    actuated: resize.actuated,
    restarting,
    restartingAll,
  };
}
