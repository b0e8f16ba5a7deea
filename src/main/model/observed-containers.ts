// Small views on the sandboxes and containers that the runtime has of a pod.
import {
  ContainerState,
  PodSandboxState,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";

export function nanosToMs(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}

/** The newest container of a name, of any sandbox. */
export function newestOf(observed: ObservedPod, name: string): ContainerStatus | undefined {
  return observed.containers.find((status) => status.metadata?.name === name);
}

/** The newest container of a name that was made in this sandbox. */
export function newestIn(sandbox: PodSandboxStatus, observed: ObservedPod, name: string): ContainerStatus | undefined {
  const status = newestOf(observed, name);
  return status !== undefined && status.createdAt >= sandbox.createdAt ? status : undefined;
}

export function podIPsOf(sandbox: PodSandboxStatus): string[] {
  const { network } = sandbox;
  if (network === undefined || network.ip === "") return [];
  return [network.ip, ...network.additionalIps.map((address) => address.ip)];
}

export function isAlive(status: ContainerStatus): boolean {
  return status.state === ContainerState.CONTAINER_RUNNING || status.state === ContainerState.CONTAINER_UNKNOWN;
}

/** UIDs of pods of which a sandbox or a container runs. */
export function runningPods(observed: Iterable<ObservedPod>): string[] {
  return [...observed]
    .filter(({ sandboxes, containers }) => readySandboxes(sandboxes).length > 0 || containers.some(isAlive))
    .map(({ uid }) => uid);
}

export function readySandboxes(sandboxes: readonly PodSandboxStatus[]): PodSandboxStatus[] {
  return sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
}
