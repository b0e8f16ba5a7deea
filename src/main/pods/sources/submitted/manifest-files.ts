// Manifests of the manifest API on disk: one file per version, and an index that names the files in force.
//
//   <folder>/index.json     { version, next, files: [{ version, createdAt, namespace, name }] }
//   <folder>/<version>.json the manifest, JSON
//
// Invariant: the index changes in one rename, after every file that it names is on the disk. A crash leaves all
// manifests of a request or none; files that the index does not name are removed at the next start.

import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { unlessGone } from "../../../../shared/base/errors/unless-gone.js";
import { atomicWrite } from "../../../../shared/io/fs/atomic-write.js";
import { readRegularFile } from "../../../../shared/io/fs/regular-file.js";
import {
  lastSetAside,
  readState,
  removeLeftovers,
  STATE_LIMIT,
  writeState,
} from "../../../../shared/io/fs/state-file.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";

const VERSION = 1;
/** Files that are written, or removed, at once. */
const AT_ONCE = 16;
const NAME = /^([1-9][0-9]{0,15})\.json$/;

export interface FileOfManifest {
  version: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  namespace: string;
  name: string;
}

interface Index {
  /** Version of the next change. */
  next: number;
  files: FileOfManifest[];
}

export interface LoadedFiles extends Index {
  /** The index was damaged: the files are all that the folder has, names unknown (""), oldest first. */
  rebuilt: boolean;
}

export class ManifestFiles {
  private readonly index: string;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.index = join(folder, "index.json");
  }

  /** Rejects with the system's error when the folder cannot be read. */
  async load(): Promise<LoadedFiles> {
    const { clock, log } = this;
    const index = await readState(this.index, decodeIndex, { clock, log });
    const versions = await this.versionsOnDisk();
    if (index === undefined && versions.length > 0 && (await lastSetAside(this.index)) !== undefined) {
      log.warn(
        { folder: this.folder, files: versions.length },
        `the index of ${this.folder} was damaged: the newest manifest of each name there is used`,
      );
      const files = versions.map((version) => ({ version, createdAt: clock.now(), namespace: "", name: "" }));
      return { next: (versions.at(-1) ?? 0) + 1, files, rebuilt: true };
    }
    await removeLeftovers(this.index);
    const { next, files } = index ?? { next: 1, files: [] };
    const named = new Set(files.map(({ version }) => version));
    await this.remove(versions.filter((version) => !named.has(version)));
    return { next, files, rebuilt: false };
  }

  read(version: number): Promise<Buffer> {
    return readRegularFile(this.pathOf(version), STATE_LIMIT);
  }

  /**
   * Puts the index in force when all of `added` is on the disk. Rejects with DiskFullError or the system's error; the
   * old index then stays in force.
   */
  async commit(index: Index, added: readonly { version: number; text: string }[]): Promise<void> {
    try {
      await batches(added, ({ version, text }) => atomicWrite(this.pathOf(version), text));
    } catch (error) {
      await this.remove(added.map(({ version }) => version));
      throw error;
    }
    await writeState(this.index, { version: VERSION, ...index });
  }

  /** Files that no index names any more. One that cannot be removed is tried again at the next start. */
  async remove(versions: readonly number[]): Promise<void> {
    await batches(versions, async (version) => {
      try {
        await unlessGone(unlink(this.pathOf(version)));
      } catch (error) {
        this.log.warn({ err: error, path: this.pathOf(version) }, `cannot remove an old manifest: ${messageOf(error)}`);
      }
    });
  }

  private pathOf(version: number): string {
    return join(this.folder, `${version}.json`);
  }

  private async versionsOnDisk(): Promise<number[]> {
    const names = (await unlessGone(readdir(this.folder))) ?? [];
    const versions = names.flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
    return versions.sort((a, b) => a - b);
  }
}

async function batches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    await Promise.all(items.slice(from, from + AT_ONCE).map(work));
  }
}

/** @throws Error for another shape */
function decodeIndex(file: unknown): Index {
  const { version, next, files } = (typeof file === "object" && file !== null ? file : {}) as {
    version?: unknown;
    next?: unknown;
    files?: unknown;
  };
  if (version !== VERSION) throw new Error(`not an index of manifests of version ${VERSION}`);
  if (typeof next !== "number" || !Number.isSafeInteger(next) || next < 1) throw new Error("next is not a version");
  if (!Array.isArray(files) || !files.every(isFile)) throw new Error("files is not a list of manifests");
  return { next, files };
}

function isFile(value: unknown): value is FileOfManifest {
  if (typeof value !== "object" || value === null) return false;
  const { version, createdAt, namespace, name } = value as Partial<Record<keyof FileOfManifest, unknown>>;
  return (
    Number.isSafeInteger(version) &&
    typeof createdAt === "number" &&
    typeof namespace === "string" &&
    typeof name === "string"
  );
}
