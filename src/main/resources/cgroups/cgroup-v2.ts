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

export class CgroupTreeV2 implements CgroupTree {
  readonly version = 2;

  constructor(
    private readonly mountPoint: string,
    private readonly onRefused: files.OnRefused,
    private readonly pageSize: bigint,
  ) {}

  directories(name: CgroupName): string[] {
    return [this.at(name)];
  }

  async create(name: CgroupName, limits: CgroupLimits): Promise<"done" | "missing-parent"> {
    const directory = this.at(name);
    const outcome = await make(directory);
    if (outcome === "missing") return "missing-parent";
    await this.apply(directory, limits, outcome);
    return "done";
  }

  update(name: CgroupName, limits: CgroupLimits): Promise<void> {
    return this.apply(this.at(name), limits, "existed");
  }

  async createParent(name: CgroupName, limits: CgroupLimits): Promise<void> {
    if (name.length > 0) await handDown(this.at(name.slice(0, -1)), this.onRefused);
    if ((await this.create(name, limits)) === "missing-parent") {
      throw cgroupsNotWritableError(this.at(name), new Error("the cgroup above it does not exist"));
    }
    await handDown(this.at(name), this.onRefused);
  }

  exists(name: CgroupName): Promise<boolean> {
    return files.isDirectory(this.at(name));
  }

  async missing(name: CgroupName): Promise<string[]> {
    return (await this.exists(name)) ? [] : this.directories(name);
  }

  async memoryUsage(name: CgroupName): Promise<bigint | undefined> {
    const text = await files.readValue(`${this.at(name)}/memory.current`);
    return text === undefined ? undefined : BigInt(text);
  }

  async holds(name: CgroupName, limits: CgroupLimits): Promise<boolean> {
    const checks = v2Writes(limits).map(async (write) => {
      const current = await files.readValue(`${this.at(name)}/${write.file}`);
      return current === undefined || sameValueV2(write, current, this.pageSize);
    });
    return (await Promise.all(checks)).every(Boolean);
  }

  children(name: CgroupName): Promise<string[]> {
    return files.childCgroups(this.at(name));
  }

  async processes(name: CgroupName): Promise<number[]> {
    const all = await files.subtree(this.at(name));
    return [...new Set((await Promise.all(all.map((directory) => files.processesIn(directory)))).flat())];
  }

  async kill(name: CgroupName, pids: readonly number[]): Promise<void> {
    // The kernel's own kill (5.14) misses no fork; older kernels have no such file.
    await files.writeValue(`${this.at(name)}/cgroup.kill`, "1", () => killAll(pids));
  }

  async remove(name: CgroupName): Promise<boolean> {
    const directory = this.at(name);
    if (await files.removeDirectory(directory)) return true;
    for (const each of await files.subtree(directory)) if (!(await files.removeDirectory(each))) return false;
    return true;
  }

  private at(name: CgroupName): string {
    return this.mountPoint + toCgroupfs(name);
  }

  private async apply(directory: string, limits: CgroupLimits, outcome: "made" | "existed"): Promise<void> {
    await Promise.all(
      v2Writes(limits).map(async (write) => {
        const path = `${directory}/${write.file}`;
        if (outcome === "made" && isKernelDefaultV2(write)) return;
        if (outcome === "existed" && sameValueV2(write, await files.readValue(path), this.pageSize)) return;
        await files.applyWrite(directory, write, this.onRefused);
      }),
    );
  }
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
