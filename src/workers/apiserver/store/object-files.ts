// The files of objects, for people. A file may be behind its object until no change waits.
// Invariant: a file with another digest than the kept one was edited by hand.

import { join } from "node:path";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ApiObject } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import type { Disk } from "./disk.js";
import { digestOf, modeOf, textOf } from "./object-file.js";

/** What a file is to hold; without an object it is to go. */
interface Wanted {
  resource: Pick<Resource, "key">;
  object: ApiObject | undefined;
  /** The file may wait until all files are written: the change has no use after a loss of power. */
  mayWait?: boolean;
}

/** A path is that below the folder. */
export class ObjectFiles {
  readonly #digests = new Map<string, string>();
  readonly #behind = new Map<string, Wanted>();
  /** Files that are written though they were removed. */
  readonly #restored = new Set<string>();

  constructor(
    readonly folder: string,
    private readonly disk: Disk,
    private readonly log: Pick<Logger, "warn">,
  ) {}

  get paths(): string[] {
    return [...this.#digests.keys()];
  }

  /** Digest of each file, as it was written. */
  get digests(): Record<string, string> {
    return Object.fromEntries(this.#digests);
  }

  get areBehind(): boolean {
    return this.#behind.size > 0;
  }

  /** Paths of the files that are there. */
  async present(): Promise<string[]> {
    return (await this.disk.files(this.folder)).map((whole) => whole.slice(this.folder.length + 1));
  }

  read(path: string): Promise<string | undefined> {
    return this.disk.read(join(this.folder, path));
  }

  /** The next write makes the file so. */
  want(path: string, wanted: Wanted): void {
    const mayWait = wanted.mayWait === true && !this.#isDue(path);
    this.#behind.set(path, { ...wanted, mayWait });
  }

  /** The next write writes it. */
  #isDue(path: string): boolean {
    const wanted = this.#behind.get(path);
    return wanted !== undefined && wanted.mayWait !== true;
  }

  /** The file is as its object. */
  know(path: string, digest: string): void {
    this.#digests.set(path, digest);
  }

  /** As want(), also for a file that was removed by hand. @returns false: a newer version is about to be written */
  restore(path: string, wanted: Wanted): boolean {
    this.#restored.add(path);
    if (this.#isDue(path)) return false;
    this.want(path, wanted);
    return true;
  }

  /** The text of a file that was edited by hand; undefined: it was not. "busy": it is about to be written. */
  async edited(path: string): Promise<{ text: string | undefined } | "busy" | undefined> {
    const known = this.#digests.get(path);
    const text = await this.read(path);
    if (this.#isDue(path) || this.#digests.get(path) !== known) return "busy";
    return (text === undefined ? undefined : digestOf(text)) === known ? undefined : { text };
  }

  /** Keeps the text of a file that no object can have. */
  async setAside(path: string, text: string): Promise<void> {
    await this.disk.replace(`${join(this.folder, path)}.rejected`, text, 0o600);
  }

  /** Writes all files, or those that may not wait. One that cannot be written stays behind; the log has the object. */
  async write(which: "all" | "due"): Promise<void> {
    for (const [path, wanted] of [...this.#behind]) {
      if (which === "due" && wanted.mayWait === true) continue;
      try {
        await this.#writeFile(path, wanted);
        if (this.#behind.get(path)?.object === wanted.object) this.#behind.delete(path);
      } catch (error) {
        this.log.warn({ err: error, path }, `an object's file could not be written: ${errorText(error)}`);
        return;
      }
    }
  }

  async #writeFile(path: string, { resource, object }: Wanted): Promise<void> {
    const whole = join(this.folder, path);
    const isRestored = this.#restored.delete(path);
    if (object === undefined) {
      await this.disk.remove(whole);
      this.#digests.delete(path);
      return;
    }
    // A file that was removed by hand since its last version stays away: its object is going to be deleted.
    if (!isRestored && this.#digests.has(path) && (await this.read(path)) === undefined) return;
    const text = textOf(object);
    await this.disk.replace(whole, text, modeOf(resource));
    this.#digests.set(path, digestOf(text));
  }
}
