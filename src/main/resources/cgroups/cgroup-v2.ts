// cgroup v2: one directory per cgroup; a parent must hand each controller down (cgroup.subtree_control) before children
// can have values of it.

import { toCgroupfs, type CgroupName } from "../../../shared/node/cgroup/name.js";
import { cgroupsNotWritableError } from "./cgroup-errors.js";
import * as files from "./cgroup-files.js";
import type { CgroupTree } from "./cgroup-tree.js";
import { v2Writes, isKernelDefaultV2, sameValueV2 } from "./cgroup-v2-writes.js";
import type { CgroupLimits } from "./cgroup-values.js";
import { killAll } from "./kill-all.js";

/** Controllers handed down where the kernel offers them. */
const WANTED = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

export function cgroupV2(mountPoint: string, onRefused: files.OnRefused, pageSize: bigint): CgroupTree {
  const at = (name: CgroupName): string => mountPoint + toCgroupfs(name);

  const apply = async (directory: string, limits: CgroupLimits, outcome: "made" | "existed"): Promise<void> => {
    await Promise.all(
      v2Writes(limits).map(async (write) => {
        const path = `${directory}/${write.file}`;
        if (outcome === "made" && isKernelDefaultV2(write)) return;
        if (outcome === "existed" && sameValueV2(write, await files.readValue(path), pageSize)) return;
        await files.applyWrite(directory, write, onRefused);
      }),
    );
  };

  const create = async (name: CgroupName, limits: CgroupLimits): Promise<"done" | "missing-parent"> => {
    const directory = at(name);
    const outcome = await make(directory);
    if (outcome === "missing") return "missing-parent";
    await apply(directory, limits, outcome);
    return "done";
  };

  return {
    version: 2,
    directories: (name) => [at(name)],
    create,
    update: (name, limits) => apply(at(name), limits, "existed"),
    async createParent(name, limits) {
      if (name.length > 0) await handDown(at(name.slice(0, -1)), onRefused);
      if ((await create(name, limits)) === "missing-parent") {
        throw cgroupsNotWritableError(at(name), new Error("the cgroup above it does not exist"));
      }
      await handDown(at(name), onRefused);
    },
    exists: (name) => files.isDirectory(at(name)),
    missing: async (name) => ((await files.isDirectory(at(name))) ? [] : [at(name)]),
    async memoryUsage(name) {
      const text = await files.readValue(`${at(name)}/memory.current`);
      return text === undefined ? undefined : BigInt(text);
    },
    async holds(name, limits) {
      const checks = v2Writes(limits).map(async (write) => {
        const current = await files.readValue(`${at(name)}/${write.file}`);
        return current === undefined || sameValueV2(write, current, pageSize);
      });
      return (await Promise.all(checks)).every(Boolean);
    },
    children: (name) => files.childCgroups(at(name)),
    async processes(name) {
      const all = await files.subtree(at(name));
      return [...new Set((await Promise.all(all.map((directory) => files.processesIn(directory)))).flat())];
    },
    async kill(name, pids) {
      // The kernel's own kill (5.14) misses no fork; older kernels have no such file.
      await files.writeValue(`${at(name)}/cgroup.kill`, "1", () => killAll(pids));
    },
    async remove(name) {
      if (await files.removeDirectory(at(name))) return true;
      for (const each of await files.subtree(at(name))) if (!(await files.removeDirectory(each))) return false;
      return true;
    },
  };
}

async function make(directory: string): Promise<"made" | "existed" | "missing"> {
  try {
    return await files.makeDirectory(directory);
  } catch (error) {
    throw cgroupsNotWritableError(directory, error);
  }
}

async function handDown(directory: string, onRefused: files.OnRefused): Promise<void> {
  const offered = (await files.readValue(`${directory}/cgroup.controllers`))?.split(" ") ?? [];
  const given = (await files.readValue(`${directory}/cgroup.subtree_control`))?.split(" ") ?? [];
  const lacking = WANTED.filter((controller) => offered.includes(controller) && !given.includes(controller));
  if (lacking.length === 0) return;
  const file = `${directory}/cgroup.subtree_control`;
  await files.writeValue(file, lacking.map((controller) => `+${controller}`).join(" "), onRefused);
}
