// The files with environment variables (fileKeyRef) of one container. A container may have thousands of variables from
// one file.
// Invariant: a file is read and parsed once for successive variables, and the memory for files has a limit.

import { quote } from "../../../shared/base/text/quote.js";
import { openPlace, readWhole } from "../../../shared/io/fs/untrusted-file.js";
import { openSubPath } from "../../../shared/node/volume-calls/sub-path.js";
import { CreateContainerConfigError } from "../../model/container-config-error.js";
import { isDevicePlace, isImagePlace, type VolumePlace } from "../../volumes/place.js";
import { readEnvFile, valueOf, type EnvFile } from "./config/env-file.js";

/** A pod writes the file itself: its size, its kind and where its links lead are the pod's choice. */
export const LONGEST_FILE = 4 * 1024 * 1024;
/** The kernel's PATH_MAX. */
const LONGEST_PATH = 4096;
/** The kernel's MAX_ARG_STRLEN: no process starts with a longer variable. */
export const LONGEST_VALUE = 128 * 1024;
/** Linux starts no process with a longer environment. */
const MAX_VALUES = 6 * 1024 * 1024;
/** In memory at a time. Beyond that, files are read again. */
const MAX_FILES = 8 * 1024 * 1024;

interface FileKeyRef {
  volumeName: string;
  path: string;
  key: string;
}

export class EnvFiles {
  private readonly files = new Map<string, EnvFile>();
  private fileBytes = 0;
  private valueBytes = 0;

  constructor(private readonly volumes: ReadonlyMap<string, VolumePlace>) {}

  /** "" when the file has no such key. @throws CreateContainerConfigError */
  async value({ volumeName, path, key }: FileKeyRef): Promise<string> {
    const place = this.volumes.get(volumeName);
    if (place === undefined || isImagePlace(place) || isDevicePlace(place)) {
      throw new CreateContainerConfigError(`cannot find the volume ${quote(volumeName)} referenced by FileKeyRef`);
    }
    if (path.length > LONGEST_PATH) {
      throw new CreateContainerConfigError(`a path referenced by FileKeyRef is longer than ${LONGEST_PATH} bytes`);
    }
    // As bytes: a part of a text would keep the whole text of the file in memory.
    let value: Buffer;
    try {
      value = Buffer.from(valueOf(await this.file(place.hostPath, path), key));
    } catch {
      // The message has neither content nor target of the file: readers of the pod's status may not see them.
      throw new CreateContainerConfigError("couldn't parse env file");
    }
    if (value.length > LONGEST_VALUE) {
      throw new CreateContainerConfigError(
        `the value of key ${quote(key)} in file ${quote(path)} is larger than ${LONGEST_VALUE} bytes`,
      );
    }
    this.valueBytes += value.length;
    if (this.valueBytes > MAX_VALUES) {
      throw new CreateContainerConfigError(
        `values of files are larger than ${MAX_VALUES} bytes: no process can be started with that`,
      );
    }
    return value.toString("utf8");
  }

  private async file(volume: string, path: string): Promise<EnvFile> {
    const name = `${volume}\0${path}`;
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const bytes = await readInside(volume, path);
    if (this.fileBytes + bytes.length > MAX_FILES) {
      this.files.clear();
      this.fileBytes = 0;
    }
    const file = readEnvFile(bytes.toString("utf8"));
    this.fileBytes += bytes.length;
    this.files.set(name, file);
    return file;
  }
}

/** Opened component by component: no link leads out of the volume. */
async function readInside(volume: string, path: string): Promise<Buffer> {
  const place = await openSubPath(volume, path.replace(/^\/+/, ""), { make: false });
  try {
    const file = await openPlace(place, path);
    try {
      return await readWhole(file, path, LONGEST_FILE);
    } finally {
      await file.handle.close();
    }
  } finally {
    await place.close();
  }
}
