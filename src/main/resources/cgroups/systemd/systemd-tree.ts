// The cgroup tree of the systemd driver: each cgroup is a transient slice that systemd creates, changes and removes.
// The plain tree does the rest, under the slices' directory names. It reads values, and kills remaining processes. It
// also writes what systemd does not manage: other hierarchies (v1), and controllers and exact values without a unit
// property.

import { sliceName, slicePath, type CgroupName } from "../../../../shared/node/cgroup/name.js";
import type { CgroupTree } from "../cgroup-tree.js";
import type { CgroupLimits } from "../cgroup-values.js";
import { accountingProperties, limitProperties, slicePropertiesAtStart } from "./systemd-properties.js";
import type { SystemdUnits } from "./systemd-units.js";

export function systemdTree(plain: CgroupTree, units: SystemdUnits): CgroupTree {
  const { version } = plain;
  /** Units that this process created or found in systemd. systemd would reset a directory without a unit. */
  const known = new Set<string>();

  const ensureUnit = async (name: CgroupName, limits: CgroupLimits): Promise<void> => {
    const unit = sliceName(name);
    const path = slicePath(name);
    const there = await plain.exists(path);
    if (there && (await plain.holds(path, limits))) {
      if (known.has(unit)) return;
      if (await units.isLoaded(unit)) {
        known.add(unit);
        return;
      }
    }
    const properties = limitProperties(limits, version);
    if (there && known.has(unit)) {
      if (properties.length > 0) await units.set(unit, properties);
      return;
    }
    const settable = [...accountingProperties(version), ...properties];
    await units.start(unit, slicePropertiesAtStart("slice of Kubernetes pods"), settable);
    known.add(unit);
  };

  return {
    version,
    directories: (name) => plain.directories(slicePath(name)),
    async create(name, limits) {
      // systemd would create a missing parent slice, but without its values.
      if (name.length > 1 && !(await plain.exists(slicePath(name.slice(0, -1))))) return "missing-parent";
      if (name.length > 0) await ensureUnit(name, limits);
      return plain.create(slicePath(name), limits);
    },
    async update(name, limits) {
      const path = slicePath(name);
      const properties = limitProperties(limits, version);
      if (properties.length > 0 && !(await plain.holds(path, limits))) await units.set(sliceName(name), properties);
      await plain.update(path, limits);
    },
    async createParent(name, limits) {
      if (name.length > 0) await ensureUnit(name, limits);
      await plain.createParent(slicePath(name), limits);
    },
    missing: (name) => plain.missing(slicePath(name)),
    memoryUsage: (name) => plain.memoryUsage(slicePath(name)),
    exists: (name) => plain.exists(slicePath(name)),
    holds: (name, limits) => plain.holds(slicePath(name), limits),
    children: (name) => plain.children(slicePath(name)),
    processes: (name) => plain.processes(slicePath(name)),
    kill: (name, pids) => plain.kill(slicePath(name), pids),
    async remove(name) {
      const unit = sliceName(name);
      const path = slicePath(name);
      if (!known.has(unit) && !(await plain.children(path.slice(0, -1))).includes(unit)) return true;
      // systemd would send SIGTERM to them, scope by scope, and wait up to 90 s. So the caller kills them first.
      if ((await plain.processes(path)).length > 0) return false;
      await units.stop(unit);
      known.delete(unit);
      return plain.remove(path);
    },
  };
}
