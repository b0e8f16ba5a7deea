// /etc/projects and /etc/projid: which directory belongs to which project, and the names of projects. Other programs
// (xfs_quota, another kubelet) read and write them, too: lines that are not ours stay as they are. See projects(5) and
// projid(5).
// Invariant: a change holds the locks of both files, and takes only files that still bear their name; each file is
// replaced as a whole.

import { constants } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { tryFlock } from "../../../shared/io/os/flock.js";
import { VolumeError } from "../volume-error.js";

/** Upstream's first project. */
const FIRST_PROJECT = 1_048_577;
/** So many numbers that no file names are tried. */
const MOST_TRIES = 128;
const LOCK_MS = 5000;
const RETRY_MS = 50;
const MOST_BYTES = 4 * 1024 * 1024;
const MODE = 0o644;

export interface ProjectPaths {
  /** Lines "<project>:<directory>". */
  projects: string;
  /** Lines "<name>:<project>". */
  projid: string;
}

interface Lines {
  projects: string[];
  projid: string[];
}

export class ProjectFiles {
  /** Serialises this kubelet's own changes. */
  private readonly turns = new KeyedSerializer();

  constructor(
    private readonly paths: ProjectPaths,
    private readonly clock: Pick<Clock, "monotonic" | "sleep">,
  ) {}

  /** The project of the directory; undefined when the file does not name it. */
  async projectOf(directory: string): Promise<number | undefined> {
    try {
      const file = await open(this.paths.projects, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        return projectIn(await linesOf(file, this.paths.projects), directory);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /**
   * The project of the directory. If it has none, it gets the first project that no file names and no file system uses.
   */
  async add(directory: string, isUsed: (project: number) => Promise<boolean>): Promise<number> {
    return this.change(async ({ projects, projid }) => {
      const known = projectIn(projects, directory);
      if (known !== undefined) return known;
      const named = new Set([...projects.map(projectOfDirectoryLine), ...projid.map(projectOfNameLine)]);
      const project = await firstFree(named, isUsed);
      projid.push(`volume${project}:${project}`);
      projects.push(`${project}:${directory}`);
      return project;
    });
  }

  /** Idempotent. The project's name goes with its last directory. */
  async remove(directory: string): Promise<void> {
    if ((await this.projectOf(directory)) === undefined) return;
    await this.change((lines) => {
      const project = projectIn(lines.projects, directory);
      if (project === undefined) return Promise.resolve();
      lines.projects = lines.projects.filter((line) => line !== `${project}:${directory}`);
      if (!lines.projects.some((line) => projectOfDirectoryLine(line) === project)) {
        lines.projid = lines.projid.filter((line) => projectOfNameLine(line) !== project);
      }
      return Promise.resolve();
    });
  }

  /** Names first: a crash between the two files leaves a name without a directory, never a directory without a name. */
  private change<T>(work: (lines: Lines) => Promise<T>): Promise<T> {
    return this.turns.run("files", () => this.locked(work));
  }

  private async locked<T>(work: (lines: Lines) => Promise<T>): Promise<T> {
    const projects = await this.openLocked(this.paths.projects);
    try {
      const projid = await this.openLocked(this.paths.projid);
      try {
        const before = {
          projects: await linesOf(projects, this.paths.projects),
          projid: await linesOf(projid, this.paths.projid),
        };
        const lines = { projects: [...before.projects], projid: [...before.projid] };
        const result = await work(lines);
        await replace(this.paths.projid, projid, before.projid, lines.projid);
        await replace(this.paths.projects, projects, before.projects, lines.projects);
        return result;
      } finally {
        await projid.close();
      }
    } finally {
      await projects.close();
    }
  }

  /**
   * Made when missing. Another process may replace the file while this one waits for its lock: the new one is opened
   * then.
   */
  private async openLocked(path: string): Promise<FileHandle> {
    const flags = constants.O_RDONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const until = this.clock.monotonic() + LOCK_MS;
    for (;;) {
      const file = await open(path, flags, MODE);
      try {
        const { ino, dev } = await regular(file, path);
        if (tryFlock(file.fd, path)) {
          const now = await stat(path).catch(() => undefined);
          if (now?.ino === ino && now.dev === dev) return file;
        }
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
      if (this.clock.monotonic() > until) {
        throw new VolumeError(`${path} is locked by another process for ${LOCK_MS / 1000} s; end it`);
      }
      await this.clock.sleep(RETRY_MS);
    }
  }
}

async function firstFree(
  named: ReadonlySet<number | undefined>,
  isUsed: (project: number) => Promise<boolean>,
): Promise<number> {
  for (let project = FIRST_PROJECT, tries = 0; tries < MOST_TRIES; project++) {
    if (named.has(project)) continue;
    if (!(await isUsed(project))) return project;
    tries++;
  }
  throw new VolumeError(`${MOST_TRIES} projects from ${FIRST_PROJECT} on have files but no line in /etc/projects`);
}

const projectIn = (lines: readonly string[], directory: string): number | undefined =>
  projectOfDirectoryLine(lines.find((line) => /^\d+:/.test(line) && line.slice(line.indexOf(":") + 1) === directory));

function projectOfDirectoryLine(line = ""): number | undefined {
  const project = /^(\d+):/.exec(line)?.[1];
  return project === undefined ? undefined : Number(project);
}

function projectOfNameLine(line: string): number | undefined {
  const project = /^[^#:][^:]*:(\d+)$/.exec(line)?.[1];
  return project === undefined ? undefined : Number(project);
}

async function regular(
  file: FileHandle,
  path: string,
): Promise<{ ino: number; dev: number; size: number; mode: number }> {
  const found = await file.stat();
  if (!found.isFile()) throw new VolumeError(`${path} is not a regular file; move it away`);
  if (found.size > MOST_BYTES) throw new VolumeError(`${path} has more than ${MOST_BYTES} bytes; shorten it`);
  return found;
}

async function linesOf(file: FileHandle, path: string): Promise<string[]> {
  const { size } = await regular(file, path);
  const bytes = new Uint8Array(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  const lines = new TextDecoder().decode(bytes.subarray(0, bytesRead)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

async function replace(
  path: string,
  file: FileHandle,
  before: readonly string[],
  now: readonly string[],
): Promise<void> {
  if (before.join("\n") === now.join("\n")) return;
  const { mode } = await file.stat();
  await atomicWrite(path, now.map((line) => `${line}\n`).join(""), { mode: mode & 0o777 });
}
