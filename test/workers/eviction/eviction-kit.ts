// The eviction thread on a fake machine: cgroup v1 files, disks of a given size, a main that records its requests.

import type {
  EvictionInit,
  EvictionPod,
  EvictionRecord,
  EvictionUpcalls,
} from "../../../src/shared/contracts/eviction.js";
import type { ContainerStats } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, type PodUid } from "../../../src/shared/kubernetes/identifiers.js";
import { CgroupReaderV1 } from "../../../src/shared/node/stats/cgroup/v1.js";
import { buildEvictionService, type EvictionService } from "../../../src/workers/eviction/eviction-service.js";
import { KernelTree } from "../../shared/node/stats/tree.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { GIB, MIB, threshold } from "./kit.js";
import { ModelKernelLog } from "./oom/model-kernel-log.js";

const CAPACITY = 16 * GIB;

export interface ModelDisk {
  available: number;
  capacity?: number;
  device?: number;
  /** Never answers. */
  hangs?: boolean;
  fails?: boolean;
}

/** Everything here answers in microtasks, which all run between two turns. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

type Order = Extract<EvictionRecord, { kind: "evict" }>;

export class EvictionWorld {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly tree = new KernelTree({
    "/proc/meminfo": `MemTotal:       ${CAPACITY / 1024} kB\n`,
    "/proc/loadavg": "0.00 0.00 0.00 1/100 4711\n",
    "/proc/sys/kernel/pid_max": "32768\n",
    "/proc/sys/kernel/threads-max": "1000\n",
  });
  /** So near their threshold that each sample looks at them. */
  readonly disks: Record<string, ModelDisk> = {
    "/root": { available: 20 * GIB, device: 1 },
    "/images": { available: 20 * GIB, device: 1 },
  };
  readonly records: EvictionRecord[] = [];
  /** Names of upcalls, in order. */
  readonly asked: string[] = [];
  /** Bytes of the volume "v" by pod name, as a walk would find them. */
  readonly volumes: Record<string, number> = {};
  stats: ContainerStats[] = [];
  connected = 0;
  bits = 0;
  looks = 0;
  /** Number of measurements of each disk. */
  readonly diskLooks: Record<string, number> = {};
  readonly marks: { directory: string; bytes: number; disposed: boolean; crossed: () => void }[] = [];
  /** Records to be read of the kernel's log. */
  readonly kernelLog = new ModelKernelLog();
  /** Main's reaction to a request to remove images. */
  removeImages: () => Promise<{ images: number; bytes: number }> = () => Promise.resolve({ images: 0, bytes: 0 });
  walk: () => Promise<void> = () => Promise.resolve();
  readonly service: EvictionService;
  private readonly pods = new Map<string, EvictionPod>();

  constructor(settings: Partial<EvictionInit> = {}) {
    this.clock.step(1_000_000);
    this.nodeMemory(8 * GIB);
    this.allocatable(8 * GIB, 0);
    this.service = buildEvictionService({
      init: {
        thresholds: [threshold("memory.available", "1Gi"), threshold("nodefs.available", "10Gi")],
        evictionPressureTransitionPeriodMs: 300_000,
        evictionMaxPodGracePeriod: 0,
        kernelMemcgNotification: false,
        localStorageCapacityIsolation: true,
        enforcePods: false,
        rootDir: "/root",
        podLogsDir: "/logs",
        cgroupRoot: "/",
        cgroupsPerQOS: true,
        containerRuntimeEndpoint: "unix:///runtime",
        imageServiceEndpoint: "",
        runtimeRequestTimeoutMs: 1000,
        listStreaming: false,
        criChannel: "own",
        samplePeriodMs: 1000,
        ...settings,
      },
      reader: new CgroupReaderV1(
        {
          version: 1,
          hierarchies: [{ controllers: ["cpu", "cpuacct", "memory", "pids"], mountPoint: "/cg", root: "/" }],
        },
        this.tree.read,
        this.tree.list,
      ),
      read: this.tree.read,
      publish: (record) => void this.records.push(record),
      main: () => this.main,
      connect: () => {
        this.connected++;
        return Promise.resolve({
          listContainerStats: () => {
            this.asked.push("listContainerStats");
            return Promise.resolve({ stats: this.stats });
          },
          close: () => undefined,
        });
      },
      watchUsage: (directory, bytes, crossed) => {
        const mark = { directory, bytes, disposed: false, crossed };
        this.marks.push(mark);
        return {
          [Symbol.dispose]: () => {
            mark.disposed = true;
          },
        };
      },
      openLog: () => this.kernelLog,
      lookAtDisk: (path) => this.lookAt(path),
      board: {
        setOp: () => undefined,
        worked: () => {
          this.looks++;
        },
        setPressures: (bits) => {
          this.bits = bits;
        },
      },
      clock: this.clock,
      log: this.kept.log,
    });
  }

  /** Virtual time, in steps small enough that what one look starts is done before the next. */
  async run(ms: number): Promise<void> {
    await settle();
    for (let left = ms; left > 0; left -= 100) {
      this.clock.step(Math.min(100, left));
      await settle();
    }
  }

  async start(pods: readonly EvictionPod[] = [], orders: readonly PodUid[] = []): Promise<void> {
    for (const each of pods) this.pods.set(each.uid, each);
    this.service.setPods(pods, orders, []);
    await this.run(50);
  }

  async ended(...names: string[]): Promise<void> {
    const uids = names.map((name) => podUid(`uid-${name}`));
    for (const uid of uids) this.pods.delete(uid);
    this.service.applyPods({ set: [], ended: uids });
    await settle();
  }

  get orders(): Order[] {
    return this.records.filter((record): record is Order => record.kind === "evict");
  }

  /** Names of the pods that were ordered away. */
  get evicted(): string[] {
    return this.orders.map(({ uid }) => uid.slice("uid-".length));
  }

  nodeMemory(available: number): void {
    this.cgroup("/", CAPACITY - available);
  }

  allocatable(limit: number, used: number): void {
    this.cgroup("/kubepods", used, limit);
  }

  podMemory(name: string, bytes: number): void {
    this.cgroup(`/kubepods/burstable/poduid-${name}`, bytes);
  }

  /** `inactive`: counted as used, though it could be dropped. */
  cgroup(path: string, used: number, limit?: number, inactive = 0): void {
    const { files } = this.tree;
    files[`/cg${path}/cgroup.procs`] = "1\n";
    files[`/cg${path}/memory.stat`] = `total_inactive_file ${inactive}\n`;
    files[`/cg${path}/memory.usage_in_bytes`] = `${used + inactive}\n`;
    if (limit !== undefined) files[`/cg${path}/memory.limit_in_bytes`] = `${limit}\n`;
  }

  private get main(): EvictionUpcalls {
    const note = (name: string): void => void this.asked.push(name);
    return {
      removeDeadContainers: () => {
        note("removeDeadContainers");
        return Promise.resolve();
      },
      removeUnusedImages: () => {
        note("removeUnusedImages");
        return this.removeImages();
      },
      podDisks: async (uids) => {
        note("podDisks");
        await this.walk();
        return uids.flatMap((uid) => {
          const bytes = this.volumes[uid.slice("uid-".length)];
          if (bytes === undefined) return [];
          const volumes = [{ name: "v", bytes, inodes: 1 }];
          return [{ uid, at: this.clock.now(), volumes, logs: [], other: { bytes: 0, inodes: 0 } }];
        });
      },
      imageFileSystems: () => {
        note("imageFileSystems");
        return Promise.resolve({ images: "/images" });
      },
      runningContainers: (uid) => {
        note("runningContainers");
        return Promise.resolve((this.pods.get(uid)?.containers ?? []).map(({ name }) => ({ name, id: `id-${name}` })));
      },
    };
  }

  private lookAt(
    path: string,
  ): Promise<{ figures: { at: number; availableBytes: number; capacityBytes: number }; device: number }> {
    this.diskLooks[path] = (this.diskLooks[path] ?? 0) + 1;
    const disk = this.disks[path];
    if (disk === undefined || disk.fails === true) return Promise.reject(new Error(`EIO: i/o error, statfs '${path}'`));
    if (disk.hangs === true) return new Promise(() => undefined);
    const { available, capacity = 100 * GIB, device = 1 } = disk;
    return Promise.resolve({ figures: { at: 0, availableBytes: available, capacityBytes: capacity }, device });
  }
}

export { GIB, MIB };
