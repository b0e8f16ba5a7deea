// Which cgroup hierarchies this machine offers: v1 (one mount per controller set), v2 (one mount for all) or hybrid
// (v1 controllers beside a v2 tree that has none; treated as v1, as the runtimes do).

import { readFile, stat } from "node:fs/promises";
import { OperatorError } from "../../base/errors/operator-error.js";
import { parseMountinfo, type Mount } from "../../io/fs/mountinfo.js";

/** A v1 hierarchy. Named ones ("name=systemd") have that name as their only controller. */
export interface V1Hierarchy {
  controllers: readonly string[];
  mountPoint: string;
  /**
   * The part of the hierarchy that the mount shows: "/" or, in some containers, a sub path. Runtimes ignore it, and so
   * do paths here.
   */
  root: string;
}

export type CgroupMounts =
  | { version: 1; hierarchies: readonly V1Hierarchy[]; unified?: { mountPoint: string } | undefined }
  | { version: 2; mountPoint: string };

/** Controllers a kubelet cannot do without. */
const REQUIRED = ["cpu", "memory"];
const HOME = "/sys/fs/cgroup";

/**
 * Pure half of `readCgroupMounts`: texts of /proc/self/mountinfo and /proc/cgroups.
 * @throws OperatorError
 * @internal
 */
export function detectCgroupMounts(mountinfo: string, procCgroups: string): CgroupMounts {
  const mounts = parseMountinfo(mountinfo);
  const enabled = enabledControllers(procCgroups);
  const hierarchies = v1Hierarchies(mounts, enabled);
  const unified = preferred(mounts.filter(({ fsType }) => fsType === "cgroup2"));
  const controllers = new Set(hierarchies.flatMap((hierarchy) => hierarchy.controllers));
  const missing = REQUIRED.filter((controller) => !controllers.has(controller));
  // A v2 mount at the usual place, or alone, means pure v2. v1 mounts beside it can only be named hierarchies.
  if (unified !== undefined && (unified.mountPoint === HOME || missing.length === REQUIRED.length)) {
    return { version: 2, mountPoint: unified.mountPoint };
  }
  if (missing.length > 0)
    throw new OperatorError(
      `no cgroup hierarchy with ${missing.join(", ")} is mounted; mount cgroups under /sys/fs/cgroup (systemd or cgroupfs-mount does)`,
    );
  return { version: 1, hierarchies, unified: unified === undefined ? undefined : { mountPoint: unified.mountPoint } };
}

/** @throws OperatorError */
export async function readCgroupMounts(): Promise<CgroupMounts> {
  const [mountinfo, procCgroups] = await Promise.all([
    readFile("/proc/self/mountinfo", "utf8"),
    readFile("/proc/cgroups", "utf8").catch(() => ""),
  ]);
  return detectCgroupMounts(mountinfo, procCgroups);
}

/** This process's path on v2. */
async function ownPathV2(): Promise<string> {
  const text = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  return /^0::(.*)$/m.exec(text)?.[1] ?? "/";
}

/** Does the kernel account swap per cgroup? `ownPath` is this process's path on v2, whose root has no swap files. */
export async function hasSwapController(mounts: CgroupMounts, ownPath?: string): Promise<boolean> {
  const file =
    mounts.version === 2
      ? `${mounts.mountPoint}${ownPath ?? (await ownPathV2())}/memory.swap.max`
      : `${v1MountPoint(mounts, "memory") ?? ""}/memory.memsw.limit_in_bytes`;
  return stat(file).then(
    () => true,
    () => false,
  );
}

export function v1MountPoint(mounts: CgroupMounts & { version: 1 }, controller: string): string | undefined {
  return mounts.hierarchies.find(({ controllers }) => controllers.includes(controller))?.mountPoint;
}

/** Names with a live hierarchy and enabled=1; undefined where the kernel has no such file (then every mount counts). */
function enabledControllers(procCgroups: string): Set<string> | undefined {
  const rows = procCgroups.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  if (rows.length === 0) return undefined;
  return new Set(
    rows.flatMap((row) => {
      const [name, hierarchy, , enabled] = row.split(/\s+/);
      return name !== undefined && hierarchy !== "0" && enabled === "1" ? [name] : [];
    }),
  );
}

function v1Hierarchies(mounts: Mount[], enabled: Set<string> | undefined): V1Hierarchy[] {
  const byControllers = new Map<string, Mount[]>();
  for (const mount of mounts.filter(({ fsType }) => fsType === "cgroup")) {
    const controllers = mount.superOptions.filter((option) => isController(option, enabled));
    if (controllers.length === 0) continue;
    const key = controllers.join(",");
    byControllers.set(key, [...(byControllers.get(key) ?? []), mount]);
  }
  return [...byControllers].flatMap(([key, same]) => {
    const mount = preferred(same);
    return mount === undefined ? [] : { controllers: key.split(","), mountPoint: mount.mountPoint, root: mount.root };
  });
}

const OTHER_OPTIONS = new Set(["rw", "ro", "xattr", "clone_children", "noprefix", "none", "cpuset_v2_mode"]);

function isController(option: string, enabled: Set<string> | undefined): boolean {
  if (option.startsWith("name=")) return true;
  if (option.includes("=") || OTHER_OPTIONS.has(option)) return false;
  return enabled?.has(option) ?? true;
}

/** Chooses the mount at the usual place from several mounts of one hierarchy. */
function preferred(mounts: Mount[]): Mount | undefined {
  return mounts.find(({ mountPoint }) => mountPoint === HOME || mountPoint.startsWith(`${HOME}/`)) ?? mounts[0];
}
