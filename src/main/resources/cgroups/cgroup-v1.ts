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

export class CgroupTreeV1 implements CgroupTree {
  readonly version = 1;

  /**
   * `unified` is the v2 mount point of a hybrid machine. runc makes the container's path there, too, and removes only
   * the last element. So the kubelet never makes cgroups there but removes old ones.
   */
  constructor(
    private readonly hierarchies: readonly V1Hierarchy[],
    private readonly unified: string | undefined,
    private readonly onRefused: files.OnRefused,
    private readonly pageSize: bigint,
  ) {}

  directories(name: CgroupName): string[] {
    return this.hierarchies.map((hierarchy) => at(hierarchy, name));
  }

  async create(name: CgroupName, limits: CgroupLimits): Promise<"done" | "missing-parent"> {
    const writes = v1Writes(limits);
    const outcomes = await Promise.all(
      this.hierarchies.map(async (hierarchy) => {
        const directory = at(hierarchy, name);
        const outcome = await make(directory);
        if (outcome === "missing") return false;
        await this.apply(hierarchy, directory, writes, outcome);
        return true;
      }),
    );
    return outcomes.every(Boolean) ? "done" : "missing-parent";
  }

  async update(name: CgroupName, limits: CgroupLimits): Promise<void> {
    const writes = v1Writes(limits);
    await Promise.all(
      this.hierarchies.map((hierarchy) => this.apply(hierarchy, at(hierarchy, name), writes, "existed")),
    );
  }

  async createParent(name: CgroupName, limits: CgroupLimits): Promise<void> {
    const cpuset = this.hierarchyOf("cpuset");
    // Before any child is made: a cpuset without CPUs and memory nodes takes no process.
    if (cpuset !== undefined) await prepareCpuset(cpuset, name, this.onRefused);
    if ((await this.create(name, limits)) === "missing-parent") {
      throw cgroupsNotWritableError(toCgroupfs(name), new Error("the cgroup above it does not exist"));
    }
  }

  async exists(name: CgroupName): Promise<boolean> {
    const found = await Promise.all(this.directories(name).map((directory) => files.isDirectory(directory)));
    return found.every(Boolean);
  }

  async missing(name: CgroupName): Promise<string[]> {
    const core = this.hierarchies.filter(({ controllers }) => controllers.some((one) => CORE.has(one)));
    const looks = core.map(async (hierarchy) => {
      const directory = at(hierarchy, name);
      return (await files.isDirectory(directory)) ? [] : [directory];
    });
    return (await Promise.all(looks)).flat();
  }

  async memoryUsage(name: CgroupName): Promise<bigint | undefined> {
    const memory = this.hierarchyOf("memory");
    if (memory === undefined) return undefined;
    const text = await files.readValue(`${at(memory, name)}/memory.usage_in_bytes`);
    return text === undefined ? undefined : BigInt(text);
  }

  async holds(name: CgroupName, limits: CgroupLimits): Promise<boolean> {
    const checks = this.hierarchies.flatMap((hierarchy) =>
      v1Writes(limits)
        .filter(({ controller }) => hierarchy.controllers.includes(controller))
        .map(async (write) => {
          const current = await files.readValue(`${at(hierarchy, name)}/${write.file}`);
          return current === undefined || sameValue(write, current, this.pageSize);
        }),
    );
    return (await Promise.all(checks)).every(Boolean);
  }

  async children(name: CgroupName): Promise<string[]> {
    const lists = await Promise.all(this.everywhere(name).map((directory) => files.childCgroups(directory)));
    return [...new Set(lists.flat())];
  }

  async processes(name: CgroupName): Promise<number[]> {
    const all = (await Promise.all(this.everywhere(name).map((directory) => files.subtree(directory)))).flat();
    return [...new Set((await Promise.all(all.map((directory) => files.processesIn(directory)))).flat())];
  }

  async kill(name: CgroupName, pids: readonly number[]): Promise<void> {
    killAll(pids);
    // A frozen process takes its SIGKILL only when thawed.
    const freezer = this.hierarchyOf("freezer");
    if (freezer === undefined || pids.length === 0) return;
    for (const directory of (await files.subtree(at(freezer, name))).reverse()) {
      await files.writeValue(`${directory}/freezer.state`, "THAWED", () => undefined);
    }
  }

  async remove(name: CgroupName): Promise<boolean> {
    const gone = await Promise.all(this.everywhere(name).map((directory) => removeSubtree(directory)));
    return gone.every(Boolean);
  }

  private everywhere(name: CgroupName): string[] {
    const directories = this.directories(name);
    return this.unified === undefined ? directories : [...directories, this.unified + toCgroupfs(name)];
  }

  private hierarchyOf(controller: string): V1Hierarchy | undefined {
    return this.hierarchies.find(({ controllers }) => controllers.includes(controller));
  }

  private async apply(
    hierarchy: V1Hierarchy,
    directory: string,
    writes: readonly CgroupWrite[],
    outcome: "made" | "existed",
  ): Promise<void> {
    for (const write of writes) {
      if (!hierarchy.controllers.includes(write.controller)) continue;
      const path = `${directory}/${write.file}`;
      if (outcome === "made" && isKernelDefault(write)) continue;
      if (outcome === "existed" && sameValue(write, await files.readValue(path), this.pageSize)) continue;
      await files.applyWrite(directory, write, this.onRefused);
    }
  }
}

function at(hierarchy: V1Hierarchy, name: CgroupName): string {
  return hierarchy.mountPoint + toCgroupfs(name);
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
