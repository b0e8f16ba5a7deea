// cgroup v1: one directory per hierarchy for each cgroup. Hierarchies are handled in parallel; within one, in order.

import type { V1Hierarchy } from "../../../shared/node/cgroup/mounts.js";
import { toCgroupfs, type CgroupName } from "../../../shared/node/cgroup/name.js";
import { cgroupsNotWritableError } from "./cgroup-errors.js";
import * as files from "./cgroup-files.js";
import type { CgroupTree } from "./cgroup-tree.js";
import { isKernelDefault, sameValue, v1Writes } from "./cgroup-v1-writes.js";
import type { CgroupLimits, CgroupWrite } from "./cgroup-values.js";
import { killAll } from "./kill-all.js";

/** Without a cgroup in these a pod is held by nothing. */
const CORE: ReadonlySet<string> = new Set(["cpu", "cpuset", "memory", "pids"]);

/**
 * `unified` is the v2 mount point of a hybrid machine. runc makes the container's path there, too, and removes only the
 * last element. So the kubelet never makes cgroups there but removes old ones.
 */
export function cgroupV1(
  hierarchies: readonly V1Hierarchy[],
  unified: string | undefined,
  onRefused: files.OnRefused,
  pageSize: bigint,
): CgroupTree {
  const at = (hierarchy: V1Hierarchy, name: CgroupName): string => hierarchy.mountPoint + toCgroupfs(name);
  const directories = (name: CgroupName): string[] => hierarchies.map((hierarchy) => at(hierarchy, name));

  const everywhere = (name: CgroupName): string[] =>
    unified === undefined ? directories(name) : [...directories(name), unified + toCgroupfs(name)];

  const apply = async (
    hierarchy: V1Hierarchy,
    directory: string,
    writes: readonly CgroupWrite[],
    outcome: "made" | "existed",
  ): Promise<void> => {
    for (const write of writes) {
      if (!hierarchy.controllers.includes(write.controller)) continue;
      const path = `${directory}/${write.file}`;
      if (outcome === "made" && isKernelDefault(write)) continue;
      if (outcome === "existed" && sameValue(write, await files.readValue(path), pageSize)) continue;
      await files.applyWrite(directory, write, onRefused);
    }
  };

  const create = async (name: CgroupName, limits: CgroupLimits): Promise<"done" | "missing-parent"> => {
    const writes = v1Writes(limits);
    const outcomes = await Promise.all(
      hierarchies.map(async (hierarchy) => {
        const directory = at(hierarchy, name);
        const outcome = await make(directory);
        if (outcome === "missing") return false;
        await apply(hierarchy, directory, writes, outcome);
        return true;
      }),
    );
    return outcomes.every(Boolean) ? "done" : "missing-parent";
  };

  return {
    version: 1,
    directories,
    create,
    async update(name, limits) {
      const writes = v1Writes(limits);
      await Promise.all(hierarchies.map((hierarchy) => apply(hierarchy, at(hierarchy, name), writes, "existed")));
    },
    async createParent(name, limits) {
      const cpuset = hierarchies.find(({ controllers }) => controllers.includes("cpuset"));
      // Before any child is made: a cpuset without CPUs and memory nodes takes no process.
      if (cpuset !== undefined) await prepareCpuset(cpuset, name, onRefused);
      if ((await create(name, limits)) === "missing-parent") {
        throw cgroupsNotWritableError(toCgroupfs(name), new Error("the cgroup above it does not exist"));
      }
    },
    async exists(name) {
      const found = await Promise.all(directories(name).map((directory) => files.isDirectory(directory)));
      return found.every(Boolean);
    },
    async missing(name) {
      const core = hierarchies.filter(({ controllers }) => controllers.some((one) => CORE.has(one)));
      const looks = core.map(async (hierarchy) => {
        const directory = at(hierarchy, name);
        return (await files.isDirectory(directory)) ? [] : [directory];
      });
      return (await Promise.all(looks)).flat();
    },
    async memoryUsage(name) {
      const memory = hierarchies.find(({ controllers }) => controllers.includes("memory"));
      if (memory === undefined) return undefined;
      const text = await files.readValue(`${at(memory, name)}/memory.usage_in_bytes`);
      return text === undefined ? undefined : BigInt(text);
    },
    async holds(name, limits) {
      const checks = hierarchies.flatMap((hierarchy) =>
        v1Writes(limits)
          .filter(({ controller }) => hierarchy.controllers.includes(controller))
          .map(async (write) => {
            const current = await files.readValue(`${at(hierarchy, name)}/${write.file}`);
            return current === undefined || sameValue(write, current, pageSize);
          }),
      );
      return (await Promise.all(checks)).every(Boolean);
    },
    async children(name) {
      const lists = await Promise.all(everywhere(name).map((directory) => files.childCgroups(directory)));
      return [...new Set(lists.flat())];
    },
    async processes(name) {
      const all = (await Promise.all(everywhere(name).map((directory) => files.subtree(directory)))).flat();
      return [...new Set((await Promise.all(all.map((directory) => files.processesIn(directory)))).flat())];
    },
    async kill(name, pids) {
      killAll(pids);
      // A frozen process takes its SIGKILL only when thawed.
      const freezer = hierarchies.find(({ controllers }) => controllers.includes("freezer"));
      if (freezer === undefined || pids.length === 0) return;
      for (const directory of (await files.subtree(at(freezer, name))).reverse()) {
        await files.writeValue(`${directory}/freezer.state`, "THAWED", () => undefined);
      }
    },
    async remove(name) {
      const gone = await Promise.all(everywhere(name).map((directory) => removeSubtree(directory)));
      return gone.every(Boolean);
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

async function removeSubtree(directory: string): Promise<boolean> {
  // The usual case, nothing below, costs one call.
  if (await files.removeDirectory(directory)) return true;
  for (const each of await files.subtree(directory)) if (!(await files.removeDirectory(each))) return false;
  return true;
}

async function prepareCpuset(cpuset: V1Hierarchy, name: CgroupName, onRefused: files.OnRefused): Promise<void> {
  const directory = cpuset.mountPoint + toCgroupfs(name);
  const parent = cpuset.mountPoint + toCgroupfs(name.slice(0, -1));
  await make(directory);
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    if ((await files.readValue(`${directory}/${file}`)) !== "") continue;
    const inherited = await files.readValue(`${parent}/${file}`);
    if (inherited !== undefined) await files.writeValue(`${directory}/${file}`, inherited, onRefused);
  }
  // From here on the kernel copies both values into new children.
  await files.writeValue(`${directory}/cgroup.clone_children`, "1", onRefused);
}
