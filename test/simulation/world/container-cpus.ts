// The CPUs on which running containers of the simulated runtime may run, and which of them are theirs alone.

import { parseCpuList } from "../../../src/shared/kubernetes/api/cpu-list.js";
import { ContainerEventType, ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podNameOf } from "./pod-facts.js";
import type { World } from "./world.js";

export interface ContainerCpus {
  id: string;
  pod: string;
  podUid: string;
  name: string;
  /** CPUs that it asked to have alone; 0: it shares. */
  own: number;
  cpus: ReadonlySet<number>;
}

/** Containers of pods that the world knows. */
export function runningContainerCpus({ runtime, facts }: World): ContainerCpus[] {
  const running: ContainerCpus[] = [];
  for (const { config, status } of runtime.state.containers.values()) {
    if (status.state !== ContainerState.CONTAINER_RUNNING) continue;
    const pod = podNameOf(config.labels);
    const name = config.metadata?.name ?? "";
    const own = facts.pods.get(pod)?.shape.cpus?.[name] ?? 0;
    const cpus = new Set(parseCpuList(status.resources?.linux?.cpusetCpus ?? ""));
    running.push({ id: status.id, pod, podUid: config.labels["io.kubernetes.pod.uid"] ?? "", name, own, cpus });
  }
  return running;
}

/** Calls `listener` after each start of a container and after each call that may have moved one. */
export function onCpusOf({ runtime }: World, listener: () => void): void {
  runtime.state.eventListeners.add(({ containerEventType }) => {
    if (containerEventType === ContainerEventType.CONTAINER_STARTED_EVENT) listener();
  });
  runtime.onEnd.add((verb) => {
    if (verb === "UpdateContainerResources") listener();
  });
}
