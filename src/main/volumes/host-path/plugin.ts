// hostPath: a path of the node, checked against its declared type. The agent owns nothing there: teardown has no part.
import { mkdir, open, stat } from "node:fs/promises";
import type { Stats } from "node:fs";
import type { HostPathType } from "../../../shared/api/volume.js";
import { VolumeSetUpError } from "../errors.js";
import type { VolumePlugin } from "../plugin.js";

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

/** What a path must be, per type; the words are the ones users know from upstream's messages. */
const CHECKS: Readonly<Record<Exclude<HostPathType, "">, { is: (stats: Stats) => boolean; noun: string }>> = {
  DirectoryOrCreate: { is: (stats) => stats.isDirectory(), noun: "directory" },
  Directory: { is: (stats) => stats.isDirectory(), noun: "directory" },
  FileOrCreate: { is: (stats) => stats.isFile(), noun: "file" },
  File: { is: (stats) => stats.isFile(), noun: "file" },
  Socket: { is: (stats) => stats.isSocket(), noun: "socket file" },
  CharDevice: { is: (stats) => stats.isCharacterDevice(), noun: "character device" },
  BlockDevice: { is: (stats) => stats.isBlockDevice(), noun: "block device" },
};

export function hostPathPlugin(): VolumePlugin {
  return {
    name: "kubernetes.io/host-path",
    source: "hostPath",
    async setUp({ pod, volume }) {
      const path = volume.hostPath?.path ?? "";
      const type = volume.hostPath?.type ?? "";
      const fail = (problem: string, cause?: unknown): VolumeSetUpError =>
        new VolumeSetUpError(pod, volume.name, problem, { cause });
      if (!path.startsWith("/")) throw fail(`hostPath ${JSON.stringify(path)} is not an absolute path`);
      if (path.split("/").includes("..")) throw fail(`hostPath ${path} must not contain '..'`);
      if (type === "") return { hostPath: path };
      if (!Object.hasOwn(CHECKS, type)) throw fail(`${type} is an invalid volume type`);
      const problem = await check(path, type).catch((error: unknown) => {
        throw fail(error instanceof Error ? error.message : String(error), error);
      });
      if (problem !== undefined) throw fail(problem);
      return { hostPath: path };
    },
  };
}

/** undefined when the path is, or was made, what the type says. */
async function check(path: string, type: Exclude<HostPathType, "">): Promise<string | undefined> {
  let stats = await statOrAbsent(path);
  if (stats === undefined && type === "DirectoryOrCreate") {
    await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
    stats = await stat(path);
  } else if (stats === undefined && type === "FileOrCreate") {
    // Parent directories are not made, as documented upstream. O_EXCL is not wanted: a file made meanwhile is as good.
    await (await open(path, "a", FILE_MODE)).close();
    stats = await stat(path);
  }
  const { is, noun } = CHECKS[type];
  return stats !== undefined && is(stats) ? undefined : `hostPath type check failed: ${path} is not a ${noun}`;
}

async function statOrAbsent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
