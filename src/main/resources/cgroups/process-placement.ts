// Moves the kubelet's own process to kubeletCgroups, and processes that are in no other cgroup to systemCgroups.
// Invariant: without those fields nothing is moved; never process 1, never the kernel's own threads, and nothing when
// the kubelet itself runs in a container.

import { readlink, readFile } from "node:fs/promises";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { CgroupMounts } from "../../../shared/node/cgroup/mounts.js";
import { parseCgroupPath, toCgroupfs, type CgroupName } from "../../../shared/node/cgroup/name.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { SMALLEST_PAGE } from "../page-size.js";
import { errnoOf } from "./cgroup-errors.js";
import * as files from "./cgroup-files.js";
import type { CgroupTree } from "./cgroup-tree.js";
import { CgroupTreeV1 } from "./cgroup-v1.js";
import { CgroupTreeV2 } from "./cgroup-v2.js";

export interface ProcessPlacementOptions {
  /** "": the kubelet stays where it is. */
  kubeletCgroups: string;
  /** "": the others stay where they are. */
  systemCgroups: string;
  mounts: CgroupMounts;
  log: Logger;
  /** The kubelet's own process, by default. */
  pid?: number;
  /** Its processes are those in no other cgroup; the root cgroup by default. */
  from?: CgroupName;
  /** Does the process see the machine as process 1 does? */
  inHost?: (pid: number) => Promise<boolean>;
}

/** Processes are started while others are moved. */
const ROUNDS = 5;

export class ProcessPlacement {
  private readonly tree: CgroupTree;

  /** @throws OperatorError */
  constructor(private readonly options: ProcessPlacementOptions) {
    const { mounts, systemCgroups } = options;
    if (systemCgroups !== "" && parseCgroupPath(systemCgroups).length === 0)
      throw new OperatorError('systemCgroups cannot be the root ("/"): name a cgroup below it, such as /system');
    const refused = (): void => undefined;
    // Of the cgroups here no byte values are compared.
    this.tree =
      mounts.version === 2
        ? new CgroupTreeV2(mounts.mountPoint, refused, SMALLEST_PAGE)
        : new CgroupTreeV1(mounts.hierarchies, mounts.unified?.mountPoint, refused, SMALLEST_PAGE);
  }

  /** Moves processes into their configured cgroups. Called repeatedly; never rejects. */
  async ensure(): Promise<void> {
    const { systemCgroups, kubeletCgroups, pid = process.pid, inHost = isInHost, log } = this.options;
    if (systemCgroups !== "") {
      await this.attempt("systemCgroups", systemCgroups, () => this.moveStrays(parseCgroupPath(systemCgroups)));
    }
    if (kubeletCgroups === "") return;
    await this.attempt("kubeletCgroups", kubeletCgroups, async () => {
      const name = parseCgroupPath(kubeletCgroups);
      if ((await this.placeOf(pid)) === toCgroupfs(name)) return;
      if (!(await inHost(pid))) {
        log.debug("the kubelet runs in a container and stays in that container's cgroup");
        return;
      }
      await this.move(name, [pid]);
    });
  }

  private async attempt(field: string, cgroup: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.log.warn(
        { err: error, field, cgroup },
        `Failed to ensure state of ${field} ${cgroup}, next try in a minute: ${errorText(error)}`,
      );
    }
  }

  private async moveStrays(name: CgroupName): Promise<void> {
    const { from = [], kubeletCgroups, pid: own = process.pid } = this.options;
    for (let round = 1; ; round++) {
      const strays: number[] = [];
      for (const pid of await files.processesIn(this.rulingDirectory(from))) {
        const stays = pid === 1 || (pid === own && kubeletCgroups !== "") || (await isKernelThread(pid));
        if (!stays) strays.push(pid);
      }
      if (strays.length === 0) return;
      if (round > ROUNDS) throw new Error(`${strays.length} processes are still in ${toCgroupfs(from)}`);
      await this.move(name, strays);
    }
  }

  private async move(name: CgroupName, pids: readonly number[]): Promise<void> {
    const { tree } = this;
    for (let depth = 1; depth <= name.length; depth++) {
      const part = name.slice(0, depth);
      // On v1 a cpuset must have CPUs before it takes a process; on v2 a cgroup that hands controllers down takes none.
      if (tree.version === 1) await tree.createParent(part, {});
      else await tree.create(part, {});
    }
    for (const pid of pids) {
      for (const directory of tree.directories(name)) {
        await files.moveProcess(directory, pid).catch((error: unknown) => {
          // It has ended.
          if (errnoOf(error) !== "ESRCH") throw error;
        });
      }
    }
  }

  /** The directory that lists the processes of a cgroup: in the memory hierarchy, or in the unified hierarchy. */
  private rulingDirectory(name: CgroupName): string {
    const { mounts } = this.options;
    if (mounts.version === 2) return mounts.mountPoint + toCgroupfs(name);
    const memory = mounts.hierarchies.find(({ controllers }) => controllers.includes("memory"));
    return (memory?.mountPoint ?? "") + toCgroupfs(name);
  }

  private async placeOf(pid: number): Promise<string | undefined> {
    const { version } = this.tree;
    for (const line of (await readFile(`/proc/${pid}/cgroup`, "utf8")).split("\n")) {
      const [, controllers = "", ...path] = line.split(":");
      const rules = version === 2 ? controllers === "" : controllers.split(",").includes("memory");
      if (rules && path.length > 0) return path.join(":");
    }
    return undefined;
  }
}

/** A kernel thread runs no program. */
async function isKernelThread(pid: number): Promise<boolean> {
  return readlink(`/proc/${pid}/exe`).then(
    () => false,
    (error: unknown) => errnoOf(error) === "ENOENT",
  );
}

/** True if it runs in the host's namespaces of processes and files, as process 1 does. */
async function isInHost(pid: number): Promise<boolean> {
  const same = async (namespace: string): Promise<boolean> => {
    const [own, first] = await Promise.all([pid, 1].map((one) => readlink(`/proc/${one}/ns/${namespace}`)));
    return own === first;
  };
  return (await same("pid")) && (await same("mnt"));
}
