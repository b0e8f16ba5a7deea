// One folder of records on disk. Written whole and synced: what was pulled with credentials must not look like an image
// that was always there, not even after a power cut. A file that can't be read back is set aside with a warning.
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite, errorCode, isTemporaryName } from "../../../shared/fs/atomic-write.js";
import type { Logger } from "../../../shared/log/logger.js";
import { isPullRecordError, isRecordName, recordName } from "./record.js";

export class RecordFiles<T> {
  constructor(
    private readonly folder: string,
    /** Throws PullRecordError. */
    private readonly decode: (text: string) => T,
    private readonly log: Logger,
  ) {}

  /** Makes the folder; removes what a crash left half written. */
  async open(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const names = await readdir(this.folder);
    await Promise.all(names.filter(isTemporaryName).map((name) => rm(join(this.folder, name), { force: true })));
  }

  async write(of: string, text: string): Promise<void> {
    await atomicWrite(join(this.folder, recordName(of)), text);
  }

  /** undefined: there is none. */
  read(of: string): Promise<T | undefined> {
    return this.readName(recordName(of));
  }

  async remove(of: string): Promise<void> {
    await rm(join(this.folder, recordName(of)), { force: true });
  }

  async count(): Promise<number> {
    return (await this.names()).length;
  }

  async all(): Promise<T[]> {
    const found = await Promise.all((await this.names()).map((name) => this.readName(name)));
    return found.filter((one) => one !== undefined);
  }

  private async names(): Promise<string[]> {
    const names = await readdir(this.folder).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    return names.filter(isRecordName);
  }

  private async readName(name: string): Promise<T | undefined> {
    const path = join(this.folder, name);
    try {
      return this.decode(await readFile(path, "utf8"));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      if (!isPullRecordError(error)) throw error;
      await rename(path, `${path}.corrupt`);
      const what = `the record of a pull ${path} is not usable: ${error.message}`;
      this.log.warn(
        { path },
        `${what}; set aside as ${name}.corrupt, whoever uses its image may have to prove it again`,
      );
      return undefined;
    }
  }
}
