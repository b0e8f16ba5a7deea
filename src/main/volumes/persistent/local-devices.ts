// Local volumes that are devices used as file systems: mounted once per node, and from there for each pod.
// Invariant: a device is mounted only at plugins/kubernetes.io/local-volume/mounts/NAME, as upstream does; it is
// unmounted when no pod's directory has a volume of that name. Callers hold the volume's lock.

import { rmdir } from "node:fs/promises";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { pluginDirectoryName, volumesDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { FilesystemMismatchError, prepareDevice, type FormatRequest } from "../file-system/format.js";
import { mountByProgram } from "../file-system/program-mount.js";
import { isMountPoint, unmount } from "../mounts.js";
import * as paths from "../paths.js";

export interface DeviceMount extends FormatRequest {
  /** Name of the persistent volume. */
  name: string;
  options: readonly string[];
}

export class LocalDevices {
  private readonly mounts: string;

  constructor(
    private readonly rootDir: string,
    private readonly plugin: string,
  ) {
    this.mounts = `${rootDir}/plugins/${plugin}/mounts`;
  }

  /** Idempotent. Resolves to where the file system is. @throws VolumeError, ProgramError, or the signal's reason */
  async mount({ name, options, ...wanted }: DeviceMount, signal: AbortSignal): Promise<string> {
    const target = `${this.mounts}/${name}`;
    await paths.makeMountPoint(target);
    if (await isMountPoint(target)) return target;
    const { device, fsType, readOnly } = wanted;
    const found = await prepareDevice(wanted);
    signal.throwIfAborted();
    const words = [...(readOnly ? ["ro"] : []), ...options];
    try {
      await mountByProgram({ source: device, target, type: fsType, options: words }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (found === fsType) throw error;
      const problem = `device ${device} has file system ${found}, but the volume requires ${fsType}: ${messageOf(error)}`;
      throw new FilesystemMismatchError(problem, { cause: error });
    }
    return target;
  }

  /** Pods with a volume of that name, by directory names: the mounted file system itself may hang. */
  async usersOf(name: string): Promise<PodUid[]> {
    const users: PodUid[] = [];
    for (const uid of await paths.podUidsIn(this.rootDir)) {
      const directory = `${volumesDirectory(this.rootDir, uid)}/${pluginDirectoryName(this.plugin)}`;
      if ((await paths.namesIn(directory)).includes(name)) users.push(uid);
    }
    return users;
  }

  /** Names of volumes that are mounted, or were. */
  names(): Promise<string[]> {
    return paths.namesIn(this.mounts);
  }

  /**
   * Idempotent; does nothing while a pod uses the volume. `uid`: the pod that used it last, or "".
   * @throws VolumeError, ProgramError
   */
  async release(uid: PodUid | "", name: string): Promise<void> {
    if (!(await this.names()).includes(name) || (await this.usersOf(name)).length > 0) return;
    const target = `${this.mounts}/${name}`;
    await unmount(uid, target);
    await rmdir(target).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
}
