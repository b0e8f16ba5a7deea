// Small views on the sandboxes and containers that the runtime has of a pod.

import { oncePer } from "../../shared/base/objects/once-per.js";
import { ContainerState, PodSandboxState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod, ObservedContainer, ObservedSandbox } from "../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

export function nanosToMs(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}

/** Longer lists are searched by name: a pod may have thousands of containers, and each is looked for. */
const SHORT_LIST = 64;
/** The newest container of each name. An observation is never changed: the next one is another. */
const newestByName = oncePer(
  (containers: readonly ObservedContainer[]): ReadonlyMap<string, ObservedContainer> =>
    new Map([...containers].reverse().map((status) => [status.metadata?.name ?? "", status])),
);

/** The newest container of a name, of any sandbox. */
export function newestOf({ containers }: ObservedPod, name: string): ObservedContainer | undefined {
  if (containers.length <= SHORT_LIST) return containers.find((status) => status.metadata?.name === name);
  return newestByName(containers).get(name);
}

const byId = oncePer(
  (containers: readonly ObservedContainer[]): ReadonlyMap<string, ObservedContainer> =>
    new Map(containers.map((status) => [status.id, status])),
);

/** The container with this id. */
export function containerOf({ containers }: ObservedPod, id: string): ObservedContainer | undefined {
  if (containers.length <= SHORT_LIST) return containers.find((status) => status.id === id);
  return byId(containers).get(id);
}

/** The newest container of a name that was made in this sandbox. */
export function newestIn(sandbox: ObservedSandbox, observed: ObservedPod, name: string): ObservedContainer | undefined {
  const status = newestOf(observed, name);
  return status !== undefined && status.createdAt >= sandbox.createdAt ? status : undefined;
}

export function podIPsOf(sandbox: ObservedSandbox): string[] {
  const { network } = sandbox;
  if (network === undefined || network.ip === "") return [];
  return [network.ip, ...network.additionalIps.map((address) => address.ip)];
}

export function isRunning({ state }: Pick<ObservedContainer, "state">): boolean {
  return state === ContainerState.CONTAINER_RUNNING;
}

export function isAlive(status: ObservedContainer): boolean {
  return status.state === ContainerState.CONTAINER_RUNNING || status.state === ContainerState.CONTAINER_UNKNOWN;
}

/** Pods of which a sandbox or a container runs. */
export function runningPods(observed: Iterable<ObservedPod>): PodUid[] {
  return [...observed]
    .filter(({ sandboxes, containers }) => readySandboxes(sandboxes).length > 0 || containers.some(isAlive))
    .map(({ uid }) => uid);
}

export function readySandboxes(sandboxes: readonly ObservedSandbox[]): ObservedSandbox[] {
  return sandboxes.filter((sandbox) => sandbox.state === PodSandboxState.SANDBOX_READY);
}
