// A memory manager on a made-up machine, its state in a folder of its own.

import type { TestContext } from "node:test";
import { podLevelMetrics, type PodLevelSettings } from "../../../../src/main/resources/assignment/pod-level.js";
import { MemoryManager } from "../../../../src/main/resources/memory-manager/memory-manager.js";
import { memoryManagerMetrics } from "../../../../src/main/resources/memory-manager/metrics.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { container, pod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { machine, type NodeShape } from "../topology/machines.js";

export function asking(
  name: string,
  memory: string,
  more: Record<string, string> = {},
  fields: Partial<Container> = {},
) {
  const list = { cpu: "1", memory, ...more };
  return container(name, { resources: { requests: list, limits: list }, ...fields });
}

/** 1 GiB of each node is kept back. */
export async function manager(
  t: TestContext,
  shapes: readonly NodeShape[],
  rootDir?: string,
  known: readonly Pod[] = [],
  running = new Set<PodUid>(),
  podLevel: Partial<PodLevelSettings> = {},
) {
  const root = rootDir ?? (await temporaryFolder(t));
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  const settings: PodLevelSettings = {
    podLevelResourceManagers: false,
    topologyManagerPolicy: "none",
    topologyManagerScope: "container",
    ...podLevel,
  };
  const made = new MemoryManager(
    {
      ...settings,
      rootDir: root,
      reservedMemory: shapes.map(({ id }) => ({ numaNode: id, limits: { memory: "1Gi" } })),
      kubeReserved: { memory: `${shapes.length}Gi` },
      systemReserved: {},
      evictionHard: {},
      allocatableIgnoresEviction: false,
      memoryBytes: BigInt(4 * shapes.length) << 30n,
    },
    machine(shapes),
    {
      runningPods: () => running,
      metrics: memoryManagerMetrics(registry),
      podLevelMetrics: podLevelMetrics(registry, "memory", settings),
      clock: new SteppedClock(),
      log: kept.log,
    },
  );
  await made.start(() => known);
  /** Series of resource_manager_*, as "name{labels} value". */
  const podLevelSeries = async (): Promise<string[]> => {
    const { families } = await registry.exportSnapshot();
    return families
      .filter(({ name }) => name.startsWith("resource_manager_"))
      .flatMap(({ name, samples }) =>
        samples.map(({ labels, value }) => `${name} ${Object.values(labels).join()} ${value}`),
      )
      .sort();
  };
  const counted = async (): Promise<number[]> => {
    const { families } = await registry.exportSnapshot();
    return families.map(({ samples }) => samples[0]?.value ?? 0);
  };
  /** All containers of a pod, wherever they may lie; what they were given. */
  const admit = async (one: Pod): Promise<string[]> => {
    const all = [...(one.spec.initContainers ?? []), ...one.spec.containers];
    for (const each of all) await made.allocate(one, each, undefined);
    return all.map((each) => `${each.name} ${made.grant(one, each).memoryNodes ?? "any"}`);
  };
  /** As before the creation of the pod's containers. */
  const start = async (one: Pod): Promise<void> => {
    for (const each of one.spec.containers) await made.ensure(one, each);
  };
  return { made, root, kept, counted, podLevelSeries, admit, start };
}

export function guaranteed(name: string, memory: string, more: Record<string, string> = {}): Pod {
  return pod({ containers: [asking("app", memory, more)] }, name);
}
