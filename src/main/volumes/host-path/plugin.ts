// hostPath: a path of the node, checked against its declared type. The kubelet owns nothing there: teardown has no
// part.

import { constants } from "node:fs";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { HostPathType } from "../../../shared/kubernetes/api/volume.js";
import { VolumeNotAnsweringError } from "../../../shared/node/volume-calls/errors.js";
import type { RequestOf, ResultOf } from "../../../shared/node/volume-calls/operations.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { rootedPath } from "../../model/rooted-path.js";
import { VolumeSetUpError } from "../errors.js";
import type { VolumePlugin } from "../plugin.js";

const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;

/** The file type that a path must have, per type; the nouns are those of upstream's messages. */
const CHECKS: Readonly<Record<Exclude<HostPathType, "">, { format: number; noun: string }>> = {
  DirectoryOrCreate: { format: constants.S_IFDIR, noun: "directory" },
  Directory: { format: constants.S_IFDIR, noun: "directory" },
  FileOrCreate: { format: constants.S_IFREG, noun: "file" },
  File: { format: constants.S_IFREG, noun: "file" },
  Socket: { format: constants.S_IFSOCK, noun: "socket file" },
  CharDevice: { format: constants.S_IFCHR, noun: "character device" },
  BlockDevice: { format: constants.S_IFBLK, noun: "block device" },
};

export function hostPathPlugin(calls: VolumeCalls): VolumePlugin {
  return {
    name: "kubernetes.io/host-path",
    source: "hostPath",
    async setUp({ pod, volume, signal }) {
      const written = volume.hostPath?.path ?? "";
      const path = rootedPath(written);
      const type = volume.hostPath?.type ?? "";
      const fail = (problem: string, cause?: unknown): VolumeSetUpError =>
        new VolumeSetUpError(pod, volume.name, problem, { cause });
      if (written === "") throw fail("hostPath has no path");
      if (written.split("/").includes("..")) throw fail(`hostPath ${path} must not contain '..'`);
      const at = new HostPath(path, calls, signal);
      if (type === "") {
        // Any existing file is passed to the container, except one on which the runtime would block for ever.
        await at.reached().catch((error: unknown) => {
          throw fail(messageOf(error), error);
        });
        return { hostPath: path };
      }
      if (!Object.hasOwn(CHECKS, type)) throw fail(`${type} is an invalid volume type`);
      const problem = await at.check(type).catch((error: unknown) => {
        throw fail(messageOf(error), error);
      });
      if (problem !== undefined) throw fail(problem);
      return { hostPath: path };
    },
  };
}

class HostPath {
  constructor(
    private readonly path: string,
    private readonly calls: VolumeCalls,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves also when nothing is there. @throws VolumeNotAnsweringError */
  async reached(): Promise<void> {
    if (!(await this.calls.mayHang(this.path))) return;
    await this.mode().catch((error: unknown) => {
      if (error instanceof VolumeNotAnsweringError) throw error;
      this.signal.throwIfAborted();
    });
  }

  /** undefined if the path has, or was created with, the type's kind. */
  async check(type: Exclude<HostPathType, "">): Promise<string | undefined> {
    const { path } = this;
    let mode = await this.mode();
    if (mode === undefined && (type === "DirectoryOrCreate" || type === "FileOrCreate")) {
      // Parent directories of files are not made, as documented upstream. A file made meanwhile is as good.
      if (type === "DirectoryOrCreate") await this.ask("mkdir", { path, mode: DIRECTORY_MODE });
      else await this.ask("touch", { path, mode: FILE_MODE });
      mode = await this.mode();
    }
    const { format, noun } = CHECKS[type];
    if (mode !== undefined && (mode & constants.S_IFMT) === format) return undefined;
    return `hostPath type check failed: ${path} is not a ${noun}`;
  }

  private ask<Name extends "mkdir" | "touch" | "stat">(name: Name, request: RequestOf<Name>): Promise<ResultOf<Name>> {
    return this.calls.call(name, request, { paths: [this.path] }, this.signal);
  }

  /** undefined where there is nothing. */
  private async mode(): Promise<number | undefined> {
    try {
      return (await this.ask("stat", { path: this.path })).mode;
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  }
}
