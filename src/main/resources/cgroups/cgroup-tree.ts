// The cgroup interface that the manager uses: the kernel's two (cgroup-v1, cgroup-v2), and systemd's on top of either.

import type { CgroupName } from "../../../shared/node/cgroup/name.js";
import type { CgroupLimits } from "./cgroup-values.js";

export interface CgroupTree {
  readonly version: 1 | 2;
  /** Directories of the cgroup, one per hierarchy. */
  directories(name: CgroupName): string[];
  /**
   * Creates the cgroup and sets its values; values that are already right are not written again. "missing-parent": the
   * parent cgroup does not exist. @throws CgroupWriteError, OperatorError; with systemd also its errors
   * (systemd-errors)
   */
  create(name: CgroupName, limits: CgroupLimits): Promise<"done" | "missing-parent">;
  /** Sets values of a cgroup that exists, and makes nothing. @throws CgroupWriteError; with systemd also its errors */
  update(name: CgroupName, limits: CgroupLimits): Promise<void>;
  /** Makes a cgroup whose children get limits: hands controllers down to them. */
  createParent(name: CgroupName, limits: CgroupLimits): Promise<void>;
  /** Exists in every hierarchy. */
  exists(name: CgroupName): Promise<boolean>;
  /** Directories that lack of those with the controllers pods are held by; [] when the cgroup is whole. */
  missing(name: CgroupName): Promise<string[]>;
  /** Bytes charged to it; undefined when it is not there. */
  memoryUsage(name: CgroupName): Promise<bigint | undefined>;
  /** Would `create` with these values write nothing? Values the kernel has no file for do not count. */
  holds(name: CgroupName, limits: CgroupLimits): Promise<boolean>;
  /** Names of children, in any hierarchy. */
  children(name: CgroupName): Promise<string[]>;
  /** PIDs in the cgroup or below, in any hierarchy. */
  processes(name: CgroupName): Promise<number[]>;
  /** SIGKILLs them, frozen ones included. */
  kill(name: CgroupName, pids: readonly number[]): Promise<void>;
  /** One try to remove it and all below; false when something is left. */
  remove(name: CgroupName): Promise<boolean>;
}
