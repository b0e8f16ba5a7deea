// The kubelet's part of the cgroup tree: <cgroupRoot>/kubepods with its QoS tiers, and one cgroup per pod.
// Invariant: nothing outside <cgroupRoot> is made, changed or killed, except values of the cgroups of systemReserved
// and kubeReserved. The pod's cgroup exists before its sandbox and is removed after it. A call for a pod whose cgroup
// is already right writes nothing. A pod's cgroup is never made while it is being removed.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { QOSClass } from "../../../shared/kubernetes/api/pod-status.js";
import { isSafePodUid } from "../../../shared/kubernetes/api/pod-uid.js";
import { podDescription, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../shared/kubernetes/api/qos.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { CgroupMounts, V1Hierarchy } from "../../../shared/node/cgroup/mounts.js";
import * as names from "../../../shared/node/cgroup/name.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import { QUOTA_PERIOD_US, UNLIMITED_QUOTA } from "../cpu.js";
import { CgroupWriteError, cgroupMissingError } from "./cgroup-errors.js";
import type { OnRefused } from "./cgroup-files.js";
import { podCgroupLimits } from "./cgroup-limits.js";
import { removeCgroup } from "./cgroup-removal.js";
import type { CgroupTree } from "./cgroup-tree.js";
import { CgroupTreeV1 } from "./cgroup-v1.js";
import { CgroupTreeV2 } from "./cgroup-v2.js";
import type { CgroupLimits } from "./cgroup-values.js";
import type { CgroupOperation } from "./metrics.js";
import { PodPlaces } from "./pod-places.js";
import { systemdTree } from "./systemd/systemd-tree.js";
import { systemdUnits, type SystemdUnits } from "./systemd/systemd-units.js";
import { tierLimits, type TierLimits, type TierOptions } from "./tier-limits.js";
import { keyOf, TierListing } from "./tier-listing.js";

export interface PodCgroup {
  /** LinuxPodSandboxConfig.cgroup_parent. */
  criParent: string;
  /**
   * Absolute directories where the runtime makes and removes container cgroups. Watching any one is enough. A runtime
   * removes a container's cgroup from all hierarchies within a millisecond, some 20 ms before it reports the exit.
   */
  watchDirs: string[];
}

export interface CgroupManager {
  readonly version: 1 | 2;
  /** Makes the kubepods tree. Like all below also throws systemd's errors (systemd-errors) with that driver.
   * @throws OperatorError, CgroupWriteError */
  setUp(): Promise<void>;
  /**
   * Idempotent. A pod that is being resized gives with `sized` what its cgroup is to have meanwhile; limits that it
   * lacks are lifted then.
   * @throws OperatorError, CgroupWriteError, InvalidQuantityError
   */
  ensurePod(pod: Pod, sized?: Pod): Promise<PodCgroup>;
  podExists(uid: PodUid): Promise<boolean>;
  /**
   * The pod has no cgroup in its QoS tier. Another process removed or moved it, or the pod started without QoS cgroups.
   * A cgroup of the other cgroup driver counts, so that a wrong cgroupDriver setting does not lose running pods.
   */
  isLost(pod: Pod): Promise<boolean>;
  /** Removes the pod's cgroup in every tier and kills the processes inside. @throws OperatorError */
  removePod(uid: PodUid): Promise<void>;
  /** Pods with a cgroup on disk. */
  listPods(): Promise<PodUid[]>;
  /**
   * Sets the tiers' values from the pods that run now. With `trusting`, values that this manager has set already are
   * taken to be there still.
   * @throws CgroupWriteError
   */
  updateQos(pods: readonly Pod[], trusting?: boolean): Promise<void>;
  /** Sets the limits of all pods together, on kubepods. @throws CgroupWriteError */
  limitPods(limits: CgroupLimits): Promise<void>;
  /**
   * Sets limits of a cgroup that another program created. The path is absolute; with systemd, the name of the last
   * slice.
   * @throws OperatorError, CgroupWriteError
   */
  limitExisting(cgroup: string, limits: CgroupLimits): Promise<void>;
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
  /** Bytes; see page-size. */
  pageSize: bigint;
  /** A container of the pod has exclusive CPUs: the pod's quota would throttle it. */
  noCpuQuota?: (pod: Pod) => boolean;
  /** CFS period of the pods, microseconds; 100 ms when absent. */
  cpuPeriodUs?: bigint;
  /** Requests are kept from reclaim (MemoryQoS with TieredReservation, on v2). */
  reserveMemory?: boolean;
  /** See TierOptions. */
  reserved?: TierOptions["reserved"];
  /** Called with the duration of each change, milliseconds. */
  /** Memory that the classes' cgroups are promised; called only with `reserveMemory`. */
  onReserved?: (minBytes: bigint, lowBytes: bigint) => void;
  onOperation?: (operation: CgroupOperation, durationMs: number) => void;
  /** For the systemd driver: how to reach it; process 1's own socket when absent. */
  systemd?: SystemdUnits;
  log: Logger;
  clock: Clock;
}

const TIERS: readonly QOSClass[] = ["BestEffort", "Burstable", "Guaranteed"];

/** Writes nothing to the cgroup tree yet: `setUp` reports a wrong tree. */
export function createCgroupManager(given: CgroupManagerOptions): CgroupManager {
  const options = { ...given, log: moduleLogger(given.log, "cgroups") };
  const { mounts, pageSize, log, clock } = options;
  const onRefused = logOnce(log);
  const plain =
    mounts.version === 2
      ? new CgroupTreeV2(mounts.mountPoint, onRefused, pageSize)
      : new CgroupTreeV1(
          hierarchiesOf(mounts.hierarchies, options.driver),
          mounts.unified?.mountPoint,
          onRefused,
          pageSize,
        );
  if (options.driver === "cgroupfs") return new TreeManager(plain, plain, options);
  return new TreeManager(systemdTree(plain, options.systemd ?? systemdUnits({ clock, log })), plain, options);
}

/**
 * systemd removes slices without device rules from the devices hierarchy at any time: this hierarchy is left to
 * systemd.
 */
function hierarchiesOf(all: readonly V1Hierarchy[], driver: names.CgroupDriver): readonly V1Hierarchy[] {
  return driver === "systemd" ? all.filter(({ controllers }) => !controllers.includes("devices")) : all;
}

class TreeManager implements CgroupManager {
  readonly version: 1 | 2;
  private readonly root: names.CgroupName;
  /** Values last written. Only a hint: the cgroup directories are authoritative. */
  private readonly applied = new Map<PodUid, string>();
  private readonly known = new PodPlaces();
  private readonly listing: TierListing;
  private readonly removing = new Map<PodUid, Promise<void>>();
  private readonly tierOptions: TierOptions;
  /** The last requested values: a tree that is created again gets them. */
  private tiers: TierLimits;
  /** The last complete values of the tiers. */
  private readonly tiersGiven = new Map<QOSClass, string>();
  private podsLimits: CgroupLimits = {};
  private madeRoot = false;

  constructor(
    private readonly tree: CgroupTree,
    /** As directories, with either driver. */
    private readonly plainTree: CgroupTree,
    private readonly options: CgroupManagerOptions,
  ) {
    this.version = tree.version;
    this.listing = new TierListing(
      (tier) => tree.children(tier),
      () => TIERS.map((qos) => this.tier(qos)),
    );
    this.root = names.parseCgroupRoot(options.cgroupRoot, options.driver);
    const { hugePageSizes = [], reserved, reserveMemory = false } = options;
    this.tierOptions = { hugePageSizes, reserveMemory, reserved };
    this.tiers = tierLimits([], this.tierOptions);
  }

  async setUp(): Promise<void> {
    const { tree, root, options } = this;
    this.tiersGiven.clear();
    for (let depth = 1; depth <= root.length; depth++) {
      const name = root.slice(0, depth);
      if (await tree.exists(name)) continue;
      await tree.createParent(name, {});
      this.madeRoot = true;
    }
    if (!options.cgroupsPerQOS) return;
    await tree.createParent(this.tier("Guaranteed"), this.podsLimits);
    // An earlier kubelet may have held the tiers to a share of the memory.
    const unheld: CgroupLimits = options.reserved === undefined ? { memoryBytes: -1n } : {};
    for (const qos of ["BestEffort", "Burstable"] as const) {
      const { cpuShares, hugePages } = this.tiers[qos];
      await tree.createParent(this.tier(qos), omitUndefined<CgroupLimits>({ cpuShares, hugePages, ...unheld }));
    }
  }

  async ensurePod(pod: Pod, sized?: Pod): Promise<PodCgroup> {
    const { tree, options } = this;
    const { cpuPeriodUs = QUOTA_PERIOD_US } = options;
    if (!options.cgroupsPerQOS) return this.describe(this.root);
    const { uid } = pod.metadata;
    await this.removing.get(uid)?.catch(() => undefined);
    const name = names.podCgroupName(this.tier(qosClass(pod)), uid);
    const asked = podCgroupLimits(sized ?? pod, {
      cpuCFSQuota: options.cpuCFSQuota && options.noCpuQuota?.(pod) !== true,
      podPidsLimit: options.podPidsLimit,
      hugePageSizes: options.hugePageSizes ?? [],
      reserveMemory: options.reserveMemory ?? false,
      cpuPeriodUs,
    });
    const unlimited = { cpuPeriodUs, cpuQuotaUs: UNLIMITED_QUOTA, memoryBytes: -1n };
    const limits = sized === undefined ? asked : { ...unlimited, ...asked };
    const fingerprint = JSON.stringify([name, limits], plain);
    const before = this.applied.get(uid);
    if (before === fingerprint && (await tree.exists(name))) return this.describe(name);
    this.known.add(uid, name);
    await this.timed(before === undefined ? "create" : "update", async () => {
      if ((await tree.create(name, limits)) !== "missing-parent") return;
      options.log.warn({ pod: podDescription(pod) }, "the root cgroup of pods is missing; creating it again");
      await this.setUp();
      await tree.create(name, limits);
    });
    this.applied.set(uid, fingerprint);
    return this.describe(name);
  }

  async podExists(uid: PodUid): Promise<boolean> {
    if (!this.options.cgroupsPerQOS) return true;
    const found = await Promise.all(this.places(uid).map((name) => this.tree.exists(name)));
    return found.some(Boolean);
  }

  async isLost(pod: Pod): Promise<boolean> {
    const { cgroupsPerQOS, driver } = this.options;
    if (!cgroupsPerQOS) return false;
    const name = names.podCgroupName(this.tier(qosClass(pod)), pod.metadata.uid);
    if ((await this.tree.missing(name)).length === 0) return false;
    return !(await this.plainTree.exists(driver === "systemd" ? name : names.slicePath(name)));
  }

  async removePod(uid: PodUid): Promise<void> {
    if (!this.options.cgroupsPerQOS) return;
    // Two at once would only meet each other's half-removed trees.
    const before = this.removing.get(uid);
    const removal = (before?.catch(() => undefined) ?? Promise.resolve()).then(() => this.remove(uid));
    this.removing.set(uid, removal);
    try {
      await removal;
    } finally {
      if (this.removing.get(uid) === removal) this.removing.delete(uid);
    }
  }

  async listPods(): Promise<PodUid[]> {
    if (!this.options.cgroupsPerQOS) return [];
    const uids = new Set<PodUid>();
    for (const qos of TIERS) {
      const tier = this.tier(qos);
      for (const element of await this.tree.children(tier)) {
        const uid = names.podUidOf(element, this.options.driver);
        if (uid === undefined || !isSafePodUid(uid)) continue;
        uids.add(uid);
        this.known.add(uid, names.podCgroupName(tier, uid));
      }
    }
    return [...uids];
  }

  async updateQos(pods: readonly Pod[], trusting = false): Promise<void> {
    if (!this.options.cgroupsPerQOS) return;
    this.tiers = tierLimits(pods, this.tierOptions);
    const { memoryMinBytes, memoryLowBytes } = this.tiers.Guaranteed;
    if (memoryMinBytes !== undefined) this.options.onReserved?.(memoryMinBytes, memoryLowBytes ?? 0n);
    for (const qos of ["Guaranteed", "Burstable", "BestEffort"] as const) {
      const limits = this.tiers[qos];
      if (Object.keys(limits).length === 0) continue;
      const fingerprint = JSON.stringify(limits, plain);
      if (trusting && this.tiersGiven.get(qos) === fingerprint) continue;
      this.tiersGiven.delete(qos);
      if ((await this.tree.missing(this.tier(qos))).length > 0) await this.setUp();
      await this.timed("update", async () => {
        if (await this.updateTier(qos, limits)) this.tiersGiven.set(qos, fingerprint);
      });
    }
  }

  async limitPods(limits: CgroupLimits): Promise<void> {
    const name = this.tier("Guaranteed");
    // The root of all cgroups has no limits.
    if (name.length === 0) return;
    if ((await this.tree.missing(name)).length > 0) await this.setUp();
    await this.timed("update", () => this.tree.update(name, limits));
    this.podsLimits = limits;
  }

  async limitExisting(cgroup: string, limits: CgroupLimits): Promise<void> {
    const systemd = this.options.driver === "systemd";
    const name = systemd ? names.fromSystemdSlice(cgroup) : names.parseCgroupPath(cgroup);
    const missing = await this.tree.missing(name);
    if (missing.length > 0) throw cgroupMissingError(cgroup, missing);
    await this.timed("update", () => this.tree.update(name, limits));
  }

  async tearDown(): Promise<void> {
    if (this.options.cgroupsPerQOS) await removeCgroup(this.tree, this.tier("Guaranteed"), undefined, this.options);
    // Parents of the root that setUp made may have other children by now: only the root itself is removed.
    if (this.madeRoot && this.root.length > 0) await this.tree.remove(this.root);
  }

  private tier(qos: QOSClass): names.CgroupName {
    return names.qosCgroupName(this.root, qos, this.options.cgroupsPerQOS);
  }

  private places(uid: PodUid): names.CgroupName[] {
    return TIERS.map((qos) => names.podCgroupName(this.tier(qos), uid));
  }

  /** @throws OperatorError */
  private async existingPlaces(uid: PodUid): Promise<names.CgroupName[]> {
    const places = this.places(uid);
    const found = await this.listing.children();
    const isSystemd = this.options.driver === "systemd";
    return places.filter((name) => {
      const directory = (isSystemd ? names.slicePath(name) : name).at(-1) ?? "";
      return found.has(keyOf(name.slice(0, -1), directory));
    });
  }

  private describe(name: names.CgroupName): PodCgroup {
    return {
      criParent: names.criCgroupParent(name, this.options.driver),
      watchDirs: this.tree.directories(name),
    };
  }

  private async remove(uid: PodUid): Promise<void> {
    this.applied.delete(uid);
    const places = this.known.of(uid) ?? (await this.existingPlaces(uid));
    if (places.length === 0) return;
    await this.timed("destroy", () =>
      Promise.all(places.map((name) => removeCgroup(this.tree, name, uid, this.options))),
    );
  }

  /**
   * Returns false if the memory limit is below the current usage. The limit is then set to the usage, and the next
   * update tries again.
   */
  private async updateTier(qos: QOSClass, limits: CgroupLimits): Promise<boolean> {
    const { tree } = this;
    const name = this.tier(qos);
    const { memoryBytes } = limits;
    try {
      await tree.update(name, limits);
      return true;
    } catch (error) {
      const used =
        memoryBytes === undefined || !(error instanceof CgroupWriteError) ? undefined : await tree.memoryUsage(name);
      if (used === undefined || memoryBytes === undefined || used < memoryBytes) throw error;
      await tree.update(name, { ...limits, memoryBytes: used });
      return false;
    }
  }

  private async timed(operation: CgroupOperation, work: () => Promise<unknown>): Promise<void> {
    const { clock, onOperation } = this.options;
    const startedAt = clock.monotonic();
    try {
      await work();
    } finally {
      onOperation?.(operation, clock.monotonic() - startedAt);
    }
  }
}

/** One line per file name: a refusal is a property of the machine, not of a pod. */
function logOnce(log: Logger): OnRefused {
  const logged = new Set<string>();
  return (path, value, error) => {
    const file = path.slice(path.lastIndexOf("/") + 1);
    if (logged.has(file)) return;
    logged.add(file);
    log.warn({ path, value, err: error }, `this machine does not support ${file}; continuing without it`);
  };
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return value instanceof Map ? [...value.entries()] : value;
}
