// The agent's part of the cgroup tree: <cgroupRoot>/kubepods with its QoS tiers, and one cgroup per pod.
// INVARIANTS: nothing outside <cgroupRoot> is made, changed or killed; the pod's cgroup exists before its sandbox and
// goes after it; a call for a pod whose cgroup is already right writes nothing.
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { Clock } from "../../shared/clock/clock.js";
import { podDescription, type Pod } from "../../shared/api/pod.js";
import type { QOSClass } from "../../shared/api/pod-status.js";
import { milliValue } from "../../shared/api/quantity.js";
import { CgroupBusyError } from "./cgroup-errors.js";
import type { OnRefused } from "./cgroup-files.js";
import type { CgroupLimits } from "./cgroup-limits.js";
import type { CgroupMounts, V1Hierarchy } from "../../shared/cgroup/mounts.js";
import * as names from "../../shared/cgroup/name.js";
import type { CgroupTree } from "./cgroup-tree.js";
import { cgroupV1 } from "./cgroup-v1.js";
import { cgroupV2 } from "./cgroup-v2.js";
import { MIN_SHARES, milliCpuToShares, QUOTA_PERIOD_US, UNLIMITED_QUOTA } from "./cpu.js";
import { podCgroupLimits } from "./pod-cgroup-limits.js";
import { podRequests, sumOf } from "./pod-requests.js";
import { describeProcesses } from "./processes.js";
import { qosClass } from "./qos.js";
import { systemdTree } from "./systemd-tree.js";
import { systemdUnits, type SystemdUnits } from "./systemd-units.js";

export interface PodCgroup {
  /** LinuxPodSandboxConfig.cgroup_parent. */
  criParent: string;
  /**
   * Absolute directories where the runtime makes and removes container cgroups. Watching any one is enough: a runtime
   * removes a container's cgroup from all hierarchies within a millisecond, some 20 ms before it reports the exit.
   */
  watchDirs: string[];
}

export interface CgroupManager {
  readonly version: 1 | 2;
  /** Makes the kubepods tree. Like all below also throws systemd's errors (systemd-errors) with that driver.
   * @throws CgroupsNotWritableError, CgroupWriteError */
  setUp(): Promise<void>;
  /**
   * Idempotent. A pod that is being resized gives with `sized` what its cgroup is to have meanwhile; limits that it lacks
   * are lifted then. @throws CgroupsNotWritableError, CgroupWriteError, InvalidQuantityError
   */
  ensurePod(pod: Pod, sized?: Pod): Promise<PodCgroup>;
  podExists(uid: string): Promise<boolean>;
  /** Removes the pod's cgroup from whatever tier it is in, killing what is left inside. @throws CgroupBusyError */
  removePod(uid: string): Promise<void>;
  /** UIDs of pods with a cgroup on disk. */
  listPods(): Promise<string[]>;
  /** Sets the tiers' shares from the pods that run now. */
  updateQos(pods: readonly Pod[]): Promise<void>;
  /** Removes the kubepods tree, and the root if setUp made it. For agents that leave nothing behind. */
  tearDown(): Promise<void>;
}

export interface CgroupManagerOptions {
  /** Config field cgroupRoot, "/" or a path (with systemd also a slice); made when missing. */
  cgroupRoot: string;
  driver: names.CgroupDriver;
  cgroupsPerQOS: boolean;
  /** 0 or below: no limit. */
  podPidsLimit: bigint;
  cpuCFSQuota: boolean;
  mounts: CgroupMounts;
  /** Bytes; see huge-pages. Without the hugetlb controller pass []. */
  hugePageSizes?: readonly bigint[];
  /** A container of the pod has CPUs of its own: the pod's quota would get in its way. */
  noCpuQuota?: (pod: Pod) => boolean;
  /** Values of kubepods itself (node allocatable); none when absent. */
  podsLimits?: CgroupLimits;
  /** For the systemd driver: how to reach it; process 1's own socket when absent. */
  systemd?: SystemdUnits;
  log: Logger;
  clock: Clock;
}

const UNLIMITED: CgroupLimits = { cpuPeriodUs: QUOTA_PERIOD_US, cpuQuotaUs: UNLIMITED_QUOTA, memoryBytes: -1n };

const TIERS: readonly QOSClass[] = ["BestEffort", "Burstable", "Guaranteed"];
/** Tries to remove a pod's cgroup, and the pause before the second one; it doubles up to the cap. Together 3.8 s. */
const REMOVE_TRIES = 14;
const REMOVE_PAUSE_MS = 5;
const REMOVE_PAUSE_CAP_MS = 500;

/** Touches nothing yet: what is not as it must be shows in `setUp`. */
export function createCgroupManager(given: CgroupManagerOptions): CgroupManager {
  const options = { ...given, log: moduleLogger(given.log, "cgroups") };
  const { mounts, log, clock } = options;
  const onRefused = logOnce(log);
  const plain =
    mounts.version === 2
      ? cgroupV2(mounts.mountPoint, onRefused)
      : cgroupV1(hierarchiesOf(mounts.hierarchies, options.driver), mounts.unified?.mountPoint, onRefused);
  if (options.driver === "cgroupfs") return new TreeManager(plain, options);
  return new TreeManager(systemdTree(plain, options.systemd ?? systemdUnits({ clock, log })), options);
}

/** systemd removes slices without device rules from the devices hierarchy whenever it looks at them: it is left to systemd. */
function hierarchiesOf(all: readonly V1Hierarchy[], driver: names.CgroupDriver): readonly V1Hierarchy[] {
  return driver === "systemd" ? all.filter(({ controllers }) => !controllers.includes("devices")) : all;
}

class TreeManager implements CgroupManager {
  readonly version: 1 | 2;
  private readonly root: names.CgroupName;
  /** Values last written, by pod UID; a hint only: the directories are the truth. */
  private readonly applied = new Map<string, string>();
  private burstableShares: bigint | undefined;
  private madeRoot = false;

  constructor(
    private readonly tree: CgroupTree,
    private readonly options: CgroupManagerOptions,
  ) {
    this.version = tree.version;
    this.root = names.parseCgroupRoot(options.cgroupRoot, options.driver);
  }

  async setUp(): Promise<void> {
    const { tree, root, options } = this;
    for (let depth = 1; depth <= root.length; depth++) {
      const name = root.slice(0, depth);
      if (await tree.exists(name)) continue;
      await tree.createParent(name, {});
      this.madeRoot = true;
    }
    if (!options.cgroupsPerQOS) return;
    await tree.createParent(this.tier("Guaranteed"), options.podsLimits ?? {});
    await tree.createParent(this.tier("BestEffort"), { cpuShares: MIN_SHARES });
    await tree.createParent(this.tier("Burstable"), { cpuShares: this.burstableShares ?? MIN_SHARES });
  }

  async ensurePod(pod: Pod, sized?: Pod): Promise<PodCgroup> {
    const { tree, options } = this;
    if (!options.cgroupsPerQOS) return this.describe(this.root);
    const { uid } = pod.metadata;
    const name = names.podCgroupName(this.tier(qosClass(pod)), uid);
    const asked = podCgroupLimits(sized ?? pod, {
      cpuCFSQuota: options.cpuCFSQuota && options.noCpuQuota?.(pod) !== true,
      podPidsLimit: options.podPidsLimit,
      hugePageSizes: options.hugePageSizes ?? [],
    });
    const limits = sized === undefined ? asked : { ...UNLIMITED, ...asked };
    const fingerprint = JSON.stringify([name, limits], plain);
    if (this.applied.get(uid) === fingerprint && (await tree.exists(name))) return this.describe(name);
    if ((await tree.create(name, limits)) === "missing-parent") {
      options.log.warn({ pod: podDescription(pod) }, "the pod cgroup tree was gone: making it again");
      await this.setUp();
      await tree.create(name, limits);
    }
    this.applied.set(uid, fingerprint);
    return this.describe(name);
  }

  async podExists(uid: string): Promise<boolean> {
    if (!this.options.cgroupsPerQOS) return true;
    const found = await Promise.all(this.places(uid).map((name) => this.tree.exists(name)));
    return found.some(Boolean);
  }

  async removePod(uid: string): Promise<void> {
    if (!this.options.cgroupsPerQOS) return;
    this.applied.delete(uid);
    await Promise.all(this.places(uid).map((name) => this.remove(name, uid)));
  }

  async listPods(): Promise<string[]> {
    if (!this.options.cgroupsPerQOS) return [];
    const children = await Promise.all(TIERS.map((qos) => this.tree.children(this.tier(qos))));
    const uids = children.flat().flatMap((element) => names.podUidOf(element, this.options.driver) ?? []);
    return [...new Set(uids)];
  }

  async updateQos(pods: readonly Pod[]): Promise<void> {
    if (!this.options.cgroupsPerQOS) return;
    let milliCpu = 0n;
    for (const pod of pods) {
      if (qosClass(pod) === "Burstable") milliCpu += milliValue(sumOf(podRequests(pod), "cpu"));
    }
    const shares = milliCpuToShares(milliCpu);
    if (shares === this.burstableShares) return;
    await this.tree.create(this.tier("Burstable"), { cpuShares: shares });
    this.burstableShares = shares;
  }

  async tearDown(): Promise<void> {
    if (this.options.cgroupsPerQOS) await this.remove(this.tier("Guaranteed"), undefined);
    // Parents of the root that setUp made may hold others by now: only the root itself goes.
    if (this.madeRoot && this.root.length > 0) await this.tree.remove(this.root);
  }

  private tier(qos: QOSClass): names.CgroupName {
    return names.qosCgroupName(this.root, qos, this.options.cgroupsPerQOS);
  }

  private places(uid: string): names.CgroupName[] {
    return TIERS.map((qos) => names.podCgroupName(this.tier(qos), uid));
  }

  private describe(name: names.CgroupName): PodCgroup {
    return {
      criParent: names.criCgroupParent(name, this.options.driver),
      watchDirs: this.tree.directories(name),
    };
  }

  private async remove(name: names.CgroupName, uid: string | undefined): Promise<void> {
    const { tree, options } = this;
    let pause = REMOVE_PAUSE_MS;
    for (let attempt = 1; attempt <= REMOVE_TRIES; attempt++) {
      if (await tree.remove(name)) return;
      const pids = await tree.processes(name);
      if (pids.length > 0) {
        const processes = await describeProcesses(pids);
        options.log.warn({ uid, cgroup: names.toCgroupfs(name), processes }, "killing what is left in a cgroup");
        await tree.kill(name, pids);
      }
      await options.clock.sleep(pause);
      pause = Math.min(2 * pause, REMOVE_PAUSE_CAP_MS);
    }
    const left = await describeProcesses(await tree.processes(name));
    throw new CgroupBusyError(
      names.toCgroupfs(name),
      REMOVE_TRIES,
      new Error(`inside: ${left.join(", ") || "no process seen"}`),
    );
  }
}

/** One line per file name: a refusal is a property of the machine, not of a pod. */
function logOnce(log: Logger): OnRefused {
  const told = new Set<string>();
  return (path, value, error) => {
    const file = path.slice(path.lastIndexOf("/") + 1);
    if (told.has(file)) return;
    told.add(file);
    log.warn({ path, value, err: error }, `this machine does not take ${file}: going on without it`);
  };
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Map ? [...value.entries()] : value;
}
