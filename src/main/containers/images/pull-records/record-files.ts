// One folder of records on disk, and a cache of those used last. A record is written whole and synced. After a power
// cut, an image pulled with credentials must not look like one that was always there. A damaged file keeps its name
// until a good record replaces it. The name shows that the kubelet pulled the image. Invariant: an unreadable file
// never counts as missing.

import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../../../shared/base/errors/error-code.js";
import { atomicWrite, isTemporaryName } from "../../../../shared/io/fs/atomic-write.js";
import { makeFolder } from "../../../../shared/io/fs/make-folder.js";
import { readTextIfThere } from "../../../../shared/io/fs/regular-file.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { isRecordName, PullRecordError, recordName } from "./record.js";

export interface RecordKind<T> {
  /** Throws PullRecordError. */
  decode(text: string): T;
  /** The key of the record, from which the name of its file is made. */
  of(record: T): string;
}

export class RecordFiles<T> {
  constructor(
    private readonly folder: string,
    private readonly kind: RecordKind<T>,
    private readonly log: Logger,
  ) {}

  /** Creates the folder; removes incomplete files of a crash. */
  async open(): Promise<void> {
    await makeFolder(this.folder, 0o700);
    const left = (await readdir(this.folder)).filter(isTemporaryName);
    await Promise.all(left.map((name) => this.tryRemove(name)));
  }

  async write(of: string, text: string): Promise<void> {
    await atomicWrite(join(this.folder, recordName(of)), text);
  }

  /** undefined: there is none. Throws PullRecordError for a damaged one, and every other error of the file system. */
  read(of: string): Promise<T | undefined> {
    return this.readName(recordName(of));
  }

  /** Whether something has the record's name, damaged or not. */
  async has(of: string): Promise<boolean> {
    try {
      await lstat(join(this.folder, recordName(of)));
      return true;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw error;
    }
  }

  async remove(of: string): Promise<void> {
    await rm(join(this.folder, recordName(of)), { force: true });
  }

  async count(): Promise<number> {
    return (await this.names()).length;
  }

  /** Returns the readable records; logs each unreadable one. */
  async usable(): Promise<T[]> {
    const found = await Promise.all((await this.names()).map((name) => this.tryRead(name)));
    return found.filter((one) => one !== undefined);
  }

  /** Names of files, damaged ones included: the name is that of one image or reference (recordName). */
  async names(): Promise<string[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    return names.filter(isRecordName);
  }

  /** Logs a file that cannot be removed, and keeps it. */
  async tryRemove(name: string): Promise<void> {
    const path = join(this.folder, name);
    try {
      await rm(path, { force: true });
    } catch (error) {
      this.log.warn({ path, err: error }, `${path} can't be removed: ${String(error)}`);
    }
  }

  private async tryRead(name: string): Promise<T | undefined> {
    const path = join(this.folder, name);
    try {
      return await this.readName(name);
    } catch (error) {
      this.log.warn(
        { path, err: error },
        `cannot use pull record ${path}: ${String(error)}; pods must prove their access to its image again`,
      );
      return undefined;
    }
  }

  private async readName(name: string): Promise<T | undefined> {
    const text = await readTextIfThere(join(this.folder, name));
    if (text === undefined) return undefined;
    const record = this.kind.decode(text);
    if (recordName(this.kind.of(record)) !== name) throw new PullRecordError("it is of another image");
    return record;
  }
}
