// A limit on the memory of the kubelet's process alone, as of a small node: a memory cgroup, and a program that enters
// it before it becomes the kubelet. cgroup v1 only; a machine with a pure v2 tree has the limit of its own unit.

import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KUBELET_ENTRY, KUBELET_NODE_FLAGS } from "../../tools/standalone/kubelet-process.js";

const ROOT = "/sys/fs/cgroup/memory";

export class MemoryLimit {
  private constructor(
    private readonly folder: string,
    /** For NodeOptions. */
    readonly entry: string,
  ) {}

  /** undefined: this machine has no memory controller of cgroup v1. @param dir gets the program */
  static async make(dir: string, bytes: number): Promise<MemoryLimit | undefined> {
    const own = /^\d+:memory:(.*)$/m.exec(await readFile("/proc/self/cgroup", "utf8"))?.[1];
    if (own === undefined) return undefined;
    const folder = join(ROOT, own, `nodelet-limit-${process.pid}`);
    await mkdir(folder);
    await writeFile(join(folder, "memory.limit_in_bytes"), String(bytes));
    const entry = join(dir, "limited-kubelet");
    const program = [process.execPath, ...KUBELET_NODE_FLAGS, KUBELET_ENTRY].map((word) => `'${word}'`).join(" ");
    await writeFile(entry, `#!/bin/sh\necho $$ >'${folder}/cgroup.procs' || exit 1\nexec ${program} "$@"\n`, {
      mode: 0o755,
    });
    return new MemoryLimit(folder, entry);
  }

  /** The most that was ever used, page cache included, MiB. */
  async highestMiB(): Promise<number> {
    return Math.round(Number(await readFile(join(this.folder, "memory.max_usage_in_bytes"), "utf8")) / 1024 / 1024);
  }

  /** After the kubelet has ended. */
  async remove(): Promise<void> {
    await rmdir(this.folder);
    await rm(this.entry, { force: true });
  }
}
