// Pods and a manager for the tests of the CPU manager.

import type { TestContext } from "node:test";
import {
  createCpuManager,
  type CpuManagerSettings,
} from "../../../../src/main/resources/cpu-manager/create-cpu-manager.js";
import type { StaticCpuManager } from "../../../../src/main/resources/cpu-manager/static-cpu-manager.js";
import type { MachineTopology } from "../../../../src/main/resources/topology/machine-topology.js";
import type { Container, Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import {
  ContainerState,
  ContainerStatus,
  type UpdateContainerResourcesRequest,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { DeepPartial } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { container, pod } from "../pods.js";

/** A container that asks for `cpu` and is limited to it. */
export function fixed(name: string, cpu: string | number, fields: Partial<Container> = {}): Container {
  const all = { cpu, memory: "64Mi" };
  return container(name, all, all, fields);
}

export function guaranteed(uid: string, cpu: string | number, spec: Partial<PodSpec> = {}): Pod {
  return pod([fixed("main", cpu)], spec, uid);
}

export function burstable(uid: string): Pod {
  return pod([container("main", { cpu: "100m" })], {}, uid);
}

/** CPUs of `uid`'s container `main`. */
export function observed(uid: string, id: string, name = "main"): ObservedPod {
  const status = observedContainer(
    ContainerStatus.fromPartial({ id, state: ContainerState.CONTAINER_RUNNING, metadata: { name } }),
  );
  return {
    uid: podUid(uid),
    namespace: "default",
    name: uid,
    sandboxes: [],
    containers: [status],
    generation: 0,
    observedAt: 0,
  };
}

export async function cpuManagerKit(
  t: TestContext,
  machine: MachineTopology,
  settings: Partial<CpuManagerSettings> = {},
) {
  // Before the folder goes.
  const managers: StaticCpuManager[] = [];
  t.after(() => Promise.all(managers.map((manager) => manager.stop())));
  const rootDir = await temporaryFolder(t);
  const clock = new SteppedClock();
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  /** "container id: CPUs", as sent to the runtime. */
  const updates: string[] = [];
  const runtime = {
    pods: [] as ObservedPod[],
    /** Throws where the runtime is to fail. */
    onUpdate: undefined as ((id: string) => void | Promise<void>) | undefined,
  };
  const open = async (): Promise<StaticCpuManager> =>
    await createCpuManager(
      {
        rootDir,
        cpuManagerPolicyOptions: {},
        cpuManagerReconcilePeriodMs: 10_000,
        reservedSystemCPUs: "0",
        kubeReserved: {},
        systemReserved: {},
        disableCPUQuotaWithExclusiveCPUs: true,
        podLevelResourceManagers: false,
        topologyManagerPolicy: "none",
        topologyManagerScope: "container",
        ...settings,
      },
      {
        cri: {
          updateContainerResources: async ({
            containerId = "",
            linux,
          }: DeepPartial<UpdateContainerResourcesRequest>) => {
            await runtime.onUpdate?.(containerId);
            updates.push(`${containerId}: ${linux?.cpusetCpus ?? ""}`);
            return {};
          },
        },
        observed: () => runtime.pods,
        registry,
        clock,
        log: kept.log,
      },
      machine,
    );
  /** A manager that has started; stopped at the end of the test. */
  const start = async (pods: readonly Pod[] | (() => Iterable<Pod>) = []): Promise<StaticCpuManager> => {
    const manager = await open();
    await manager.start(typeof pods === "function" ? pods : () => pods);
    managers.push(manager);
    return manager;
  };
  return { rootDir, clock, kept, registry, updates, runtime, open, start };
}

const NEVER = new AbortController().signal;

/** Allocates for all containers of the pod, as the joined managers do. */
export async function allocateAll(manager: StaticCpuManager, subject: Pod): Promise<void> {
  for (const one of [...(subject.spec.initContainers ?? []), ...subject.spec.containers]) {
    await manager.allocate(subject, one, undefined, NEVER);
  }
}

/** The list of CPUs that each container is created with. */
export function granted(manager: StaticCpuManager, subject: Pod): Record<string, string | undefined> {
  const all = [...(subject.spec.initContainers ?? []), ...subject.spec.containers];
  return Object.fromEntries(all.map((one) => [one.name, manager.grant(subject, one).cpus]));
}
