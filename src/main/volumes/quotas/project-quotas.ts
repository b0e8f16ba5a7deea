// Usage of emptyDir volumes by project quotas (feature gate LocalStorageCapacityIsolationFSQuotaMonitoring): each
// volume is one project, and the file system counts its usage. It counts at once, and includes files that are deleted
// but open. As upstream, only pods in a user namespace have quotas. Root of the node's own user namespace could move
// files to another project. No quota limits a volume: eviction does.
// Invariant: a volume without a quota is measured by a walk; no failure here fails a pod.

import { constants } from "node:fs";
import { open, statfs } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { isOsCallError } from "../../../shared/io/os/errors.js";
import {
  countsProjects,
  inheritedProject,
  projectUsage,
  setProject,
  type ProjectUsage,
} from "../../../shared/io/os/project-quota.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ProjectFiles, type ProjectPaths } from "./project-files.js";

/** As statfs(2) reports them. */
const XFS = 0x5846_5342;
const EXT4 = 0xef53;

const SYSTEM_FILES: ProjectPaths = { projects: "/etc/projects", projid: "/etc/projid" };

/** In paths of the volumes that may have a project. */
const EMPTY_DIR = "/kubernetes.io~empty-dir/";

interface ProjectQuotasOptions {
  /** The feature gate. */
  enabled: boolean;
  clock: Pick<Clock, "monotonic" | "sleep">;
  log: Pick<Logger, "info" | "warn">;
  paths?: ProjectPaths;
}

export class ProjectQuotas {
  private readonly files: ProjectFiles;
  /** By directory. */
  private readonly projects = new Map<string, number>();
  /** Directories of an earlier kubelet whose project was looked for. */
  private readonly looked = new Set<string>();
  private saidWhyNot = false;

  constructor(private readonly options: ProjectQuotasOptions) {
    this.files = new ProjectFiles(options.paths ?? SYSTEM_FILES, options.clock);
  }

  /** Gives a new, empty directory a project. Never rejects. */
  async assign(directory: string): Promise<void> {
    await this.on(directory, async (fd) => {
      const inUse = (project: number): Promise<boolean> => isInUse(fd, project, directory);
      const project = await this.files.add(directory, inUse);
      try {
        await setProject(fd, project, directory);
      } catch (error) {
        await this.files.remove(directory);
        throw error;
      }
      this.projects.set(directory, project);
    });
  }

  /**
   * Takes over the project that an earlier kubelet gave the directory. One without a project may have files already: it
   * gets none. Never rejects.
   */
  async adopt(directory: string): Promise<void> {
    if (this.projects.has(directory)) return;
    await this.on(directory, async (fd) => {
      const project = await this.files.projectOf(directory);
      if (project === undefined || project !== (await inheritedProject(fd, directory))) return;
      this.projects.set(directory, project);
    });
  }

  /** The directory was removed. The lines of an earlier kubelet go, too, also with the gate off. Never rejects. */
  async clear(directory: string): Promise<void> {
    this.projects.delete(directory);
    this.looked.delete(directory);
    try {
      await this.files.remove(directory);
    } catch (error) {
      this.options.log.warn({ err: error }, `cannot remove the project of ${directory}: ${errorText(error)}`);
    }
  }

  /** undefined: the directory has no quota, or the file system does not respond as expected; walk it. */
  async usage(directory: string): Promise<ProjectUsage | undefined> {
    // A pod that runs already when the kubelet starts sets up no volume.
    if (directory.includes(EMPTY_DIR) && !this.looked.has(directory)) {
      this.looked.add(directory);
      await this.adopt(directory);
    }
    const project = this.projects.get(directory);
    if (project === undefined) return undefined;
    try {
      return await withDirectory(directory, (fd) => projectUsage(fd, project, directory));
    } catch (error) {
      const { log } = this.options;
      log.warn({ err: error }, `cannot read the quota of ${directory}: ${errorText(error)}; its files are counted`);
      return undefined;
    }
  }

  private async on(directory: string, work: (fd: number) => Promise<void>): Promise<void> {
    if (!this.options.enabled) return;
    try {
      await withDirectory(directory, async (fd) => {
        const reason = await reasonAgainst(fd, directory);
        if (reason === undefined) await work(fd);
        else this.sayWhyNot(directory, reason);
      });
    } catch (error) {
      const { log } = this.options;
      log.warn({ err: error }, `cannot give ${directory} a quota: ${errorText(error)}; its files are counted`);
    }
  }

  private sayWhyNot(directory: string, reason: string): void {
    if (this.saidWhyNot) return;
    this.saidWhyNot = true;
    this.options.log.info(
      {},
      `LocalStorageCapacityIsolationFSQuotaMonitoring is on, but the file system of ${directory} ${reason}: files of volumes are counted; ` +
        `for quotas, mount XFS, or ext4 with the feature "project", with the option prjquota`,
    );
  }
}

/** undefined: the file system counts what projects use. */
async function reasonAgainst(fd: number, directory: string): Promise<string | undefined> {
  const { type } = await statfs(directory);
  if (type !== XFS && type !== EXT4) return "is neither XFS nor ext4";
  try {
    return (await countsProjects(fd, directory)) ? undefined : "does not count usage by project";
  } catch (error) {
    return `has no project quotas (${messageOf(error)})`;
  }
}

async function isInUse(fd: number, project: number, directory: string): Promise<boolean> {
  try {
    const { bytes, inodes } = await projectUsage(fd, project, directory);
    return bytes > 0 || inodes > 0;
  } catch (error) {
    if (isOsCallError(error, "ENOENT")) return false;
    throw error;
  }
}

async function withDirectory<T>(directory: string, work: (fd: number) => Promise<T>): Promise<T> {
  const file = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    return await work(file.fd);
  } finally {
    await file.close();
  }
}
