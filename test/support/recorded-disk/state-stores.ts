// The stores of allocations to pods, on any root directory, in one form for the power-cut test.

import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RecordFiles } from "../../../src/main/containers/images/pull-records/record-files.js";
import { intentText, readIntent } from "../../../src/main/containers/images/pull-records/record.js";
import { readMappings } from "../../../src/main/containers/user-namespaces/mapping-file.js";
import { UserNamespaces } from "../../../src/main/containers/user-namespaces/user-namespaces.js";
import { Allocations } from "../../../src/main/resources/allocation/allocations.js";
import { createCpuManager } from "../../../src/main/resources/cpu-manager/create-cpu-manager.js";
import { DeviceManager } from "../../../src/main/resources/devices/device-manager.js";
import { createMemoryManager } from "../../../src/main/resources/memory-manager/create.js";
import { readVolData, removeVolData, writeVolData } from "../../../src/main/volumes/csi/vol-data.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { usernsPath } from "../../../src/shared/kubernetes/api/pod-paths.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { devices, FakePlugin, GPU, wanting } from "../../main/resources/devices/kit.js";
import { container, pod } from "../../main/resources/pods.js";
import { machine } from "../../main/resources/topology/machines.js";
import { noDeviceMetrics } from "../silent.js";

const never = new AbortController().signal;
/** Each has memory for one pod. */
const NODES = Array.from({ length: 8 }, (_, id) => ({ id }));
const NODE_MEMORY = "3Gi";
const fails = (): never => {
  throw new Error("no runtime here");
};

interface OpenStore {
  /** Resolves with the units that the pod was promised. */
  give(uid: string): Promise<string[]>;
  /** The pod's allocations, without a new one. */
  held(uid: string): Promise<string[]>;
  takeBack(uid: string): Promise<void>;
  stop(): Promise<void>;
}

/** `uids`: pods that are known at the start. */
export type OpensStore = (root: string, log: Logger, uids: readonly string[]) => Promise<OpenStore>;

const all = { cpu: "1", memory: NODE_MEMORY };
const podOf = (uid: string): Pod => pod([container("main", all, all)], {}, uid);
const mainOf = ({ spec }: Pod) => spec.containers[0] ?? fails();

const POD_LEVEL = {
  podLevelResourceManagers: false,
  topologyManagerPolicy: "none",
  topologyManagerScope: "container",
} as const;

const cpus: OpensStore = async (rootDir, log, uids) => {
  const manager = await createCpuManager(
    {
      rootDir,
      cpuManagerPolicyOptions: {},
      cpuManagerReconcilePeriodMs: 600_000,
      reservedSystemCPUs: "0",
      kubeReserved: {},
      systemReserved: {},
      disableCPUQuotaWithExclusiveCPUs: true,
      ...POD_LEVEL,
    },
    {
      cri: { updateContainerResources: fails },
      observed: () => [],
      registry: new ThreadRegistry("main"),
      clock: systemClock,
      log,
    },
    machine(NODES),
  );
  let known = uids.map(podOf);
  await manager.start(() => known);
  const held = (uid: string): string[] => manager.exclusiveCpus(podUid(uid), "main").map((cpu) => `CPU ${cpu}`);
  return {
    async give(uid) {
      const subject = podOf(uid);
      known = [...known, subject];
      await manager.allocate(subject, mainOf(subject), undefined, never);
      return held(uid);
    },
    held: (uid) => Promise.resolve(held(uid)),
    takeBack(uid) {
      known = known.filter(({ metadata }) => metadata.uid !== uid);
      manager.release(podUid(uid));
      return Promise.resolve();
    },
    stop: () => manager.stop(),
  };
};

const memory: OpensStore = async (rootDir, log, uids) => {
  const manager = createMemoryManager(
    {
      rootDir,
      reservedMemory: NODES.map(({ id }) => ({ numaNode: id, limits: { memory: "1Gi" } })),
      kubeReserved: { memory: `${NODES.length}Gi` },
      systemReserved: {},
      evictionHard: {},
      allocatableIgnoresEviction: false,
      ...POD_LEVEL,
      memoryBytes: BigInt(4 * NODES.length) << 30n,
    },
    machine(NODES),
    { observed: () => [], registry: new ThreadRegistry("main"), clock: systemClock, log },
  );
  await manager.start(() => uids.map(podOf));
  const held = (uid: string): string[] =>
    manager.memoryBlocks(podUid(uid), "main").flatMap(({ nodes }) => nodes.map((node) => `memory of node ${node}`));
  return {
    async give(uid) {
      const subject = podOf(uid);
      await manager.allocate(subject, mainOf(subject), undefined);
      return held(uid);
    },
    held: (uid) => Promise.resolve(held(uid)),
    takeBack(uid) {
      manager.release(podUid(uid));
      return Promise.resolve();
    },
    stop: () => manager.stop(),
  };
};

const plugins: OpensStore = async (root, log, uids) => {
  const ids = Array.from({ length: 64 }, (_, index) => [`gpu-${index}`, {}] as const);
  const plugin = new FakePlugin(devices(Object.fromEntries(ids)));
  const manager = new DeviceManager({
    directory: join(root, "device-plugins"),
    dial: () => Promise.resolve(plugin),
    numaNodes: () => [0],
    podRuns: () => false,
    runningPods: () => [],
    onDevices: () => undefined,
    onHealth: () => undefined,
    metrics: noDeviceMetrics,
    clock: systemClock,
    log,
  });
  const wants = (uid: string): Pod => pod([wanting("main", 1)], {}, uid);
  let known = uids.map(wants);
  await manager.start(() => known);
  await manager.endpoints.register(GPU, "socket", never);
  const held = (uid: string): string[] => [...(manager.granted.ids(podUid(uid), "main", GPU) ?? [])];
  return {
    async give(uid) {
      const subject = wants(uid);
      known = [...known, subject];
      await manager.allocate(subject, mainOf(subject), undefined, never);
      await manager.finish(subject, never);
      return held(uid);
    },
    held: (uid) => Promise.resolve(held(uid)),
    takeBack(uid) {
      manager.release(podUid(uid));
      return Promise.resolve();
    },
    stop: () => manager.stop(),
  };
};

const userIds: OpensStore = (rootDir, log) => {
  const namespaces = new UserNamespaces(
    { rootDir, idsPerPod: 65_536, maxPods: 110, run: () => Promise.resolve(undefined) },
    { observed: () => Promise.resolve([]), log },
  );
  return Promise.resolve({
    async give(uid) {
      const own = await namespaces.forPod(pod([], { hostUsers: false }, uid));
      return (own?.uids ?? []).map(({ hostId }) => `ids from ${hostId}`);
    },
    async held(uid) {
      const range = await readMappings(usernsPath(rootDir, podUid(uid)));
      return range === undefined ? [] : [`ids from ${range.first}`];
    },
    async takeBack(uid) {
      await rm(dirname(usernsPath(rootDir, podUid(uid))), { recursive: true });
      namespaces.release(podUid(uid));
    },
    stop: () => Promise.resolve(),
  });
};

/** A resize is promised: the second allocation of the pod. */
const allocations: OpensStore = async (root, log) => {
  const store = new Allocations(root, systemClock, log);
  await store.load();
  const held = (uid: string): string[] => {
    const cpu = store.allocated(podUid(uid))?.containers["main"]?.requests?.["cpu"];
    return cpu === undefined ? [] : [`${cpu} of ${uid}`];
  };
  return {
    async give(uid) {
      for (const cpu of ["1", "2"]) {
        store.allocate(podUid(uid), { containers: { main: { requests: { cpu } } } });
        await store.flush();
      }
      return held(uid);
    },
    held: (uid) => Promise.resolve(held(uid)),
    takeBack(uid) {
      store.forget(podUid(uid));
      return Promise.resolve();
    },
    stop: () => store.flush(),
  };
};

const pulls: OpensStore = async (root, log) => {
  const kind = { decode: readIntent, of: ({ image }: { image: string }) => image };
  const files = new RecordFiles(join(root, "image_manager", "pulling"), kind, log);
  await files.open();
  const held = async (uid: string): Promise<string[]> => ((await files.read(uid)) === undefined ? [] : [`pull ${uid}`]);
  return {
    async give(uid) {
      await files.write(uid, intentText({ image: uid }));
      return await held(uid);
    },
    held,
    takeBack: (uid) => files.remove(uid),
    stop: () => Promise.resolve(),
  };
};

const csiVolumes: OpensStore = async (root) => {
  const base = join(root, "plugins", "csi");
  await mkdir(base, { recursive: true });
  const directory = (uid: string): string => join(base, uid);
  const held = async (uid: string): Promise<string[]> => {
    const data = await readVolData(directory(uid));
    return data === undefined ? [] : [`volume ${data.volumeHandle}`];
  };
  return {
    async give(uid) {
      await writeVolData(directory(uid), { driverName: "csi.example.com", volumeHandle: uid });
      return await held(uid);
    },
    held,
    takeBack: (uid) => removeVolData(directory(uid)),
    stop: () => Promise.resolve(),
  };
};

export const STORES: Readonly<Record<string, OpensStore>> = {
  CPUs: cpus,
  memory,
  devices: plugins,
  "user ids": userIds,
  allocations,
  "pull records": pulls,
  "CSI volumes": csiVolumes,
};
