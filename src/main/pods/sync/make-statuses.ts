// Makes the statuses of pods with the parts of the sync path that they show.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { ResourceStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeRuntime } from "../../containers/runtime/node-runtime.js";
import { knownRuntimeHandler } from "../../containers/runtime/runtime-handlers.js";
import type { PodDelta } from "../../model/pod-delta.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { RestartGates } from "../../model/restart.js";
import type { Resizes } from "../admission/resizes.js";
import { PodStatuses } from "../status/pod-statuses.js";
import { TerminationReader } from "../status/termination-reader.js";
import type { PodState } from "./pod-state.js";

export interface StatusesDeps {
  state: PodState;
  runtime: NodeRuntime;
  calls: Pick<VolumeCalls, "call">;
  probes: ProbeResults;
  resizes: Pick<Resizes, "shown">;
  gates: RestartGates;
  podLevelResources: boolean;
  resourceHealth: ((pod: Pod, container: string) => ResourceStatus[]) | undefined;
  publish: (delta: PodDelta) => void;
  loop: Pick<LoopShare, "turn">;
  clock: Clock;
  log: Logger;
}

export function makeStatuses(deps: StatusesDeps): PodStatuses {
  const { state, runtime, resourceHealth, clock, log } = deps;
  const { rootDir, podLogsDir } = runtime.settings;
  const onRead = (uid: PodUid): void => statuses.onMessageRead(uid);
  const statuses: PodStatuses = new PodStatuses({
    clock,
    loop: deps.loop,
    log: moduleLogger(log, "pod-statuses"),
    nodeIPs: () => runtime.node.nodeIPs,
    runtimeName: () => state.cache.runtime?.name ?? "",
    qosClass,
    terminations: new TerminationReader({ rootDir, podLogsDir }, deps.calls, log, onRead),
    probes: deps.probes,
    resize: (uid) => deps.resizes.shown(uid),
    gates: deps.gates,
    podLevelResources: deps.podLevelResources,
    stopSignals: runtime.settings.containerStopSignals,
    imageVolumeDigests: runtime.settings.imageVolumeWithDigest,
    recursiveReadOnly: (pod) => {
      const handler = knownRuntimeHandler(runtime, pod);
      const handlers = state.cache.runtime?.details?.handlers ?? [];
      return handlers.some(({ name, recursiveReadOnlyMounts }) => name === handler && recursiveReadOnlyMounts);
    },
    volumesSetUp: (pod) => runtime.volumes.areSetUp(pod),
    changesOnRestart: runtime.settings.changeContainerStatusOnKubeletRestart,
    resourceHealth,
    apiStatus: (uid) => state.cluster?.statusOf(uid),
    publish: deps.publish,
    events: state.events,
  });
  runtime.volumes.onSetUp((uid) => statuses.onVolumesSetUp(uid));
  return statuses;
}
