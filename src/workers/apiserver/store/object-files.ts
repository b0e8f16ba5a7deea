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

/** A file that was changed by hand; both are undefined when it is gone. */
interface Edit {
  text: string | undefined;
  digest: string | undefined;
}

/** A path is that below the folder. */
export class ObjectFiles {
  readonly #digests = new Map<string, string>();
  readonly #behind = new Map<string, Wanted>();
  /** Digests of files as an edit that was decided on had left them; undefined: they were gone. */
  readonly #decided = new Map<string, string | undefined>();
  /** Files that were not written, because they were edited. */
  readonly #held = new Set<string>();
  #onHeld: ((path: string) => void) | undefined;

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

  /** An edit that left a text with this digest was decided on, so that it may be replaced; undefined: a removal. */
  decide(path: string, digest: string | undefined): void {
    this.#decided.set(path, digest);
  }

  /** It was not, after all. */
  undecide(path: string): void {
    this.#decided.delete(path);
  }

  /** The file is behind its object, because it was edited when it was to be written. */
  isHeld(path: string): boolean {
    return this.#held.has(path);
  }

  /** Calls back for each file that was not written because it was edited, also before this call. */
  onHeld(listener: (path: string) => void): void {
    this.#onHeld = listener;
    for (const path of this.#held) listener(path);
  }

  /** As want(). @returns false: a newer version is about to be written */
  restore(path: string, wanted: Wanted): boolean {
    if (this.#isDue(path)) return false;
    this.want(path, wanted);
    return true;
  }

  /** The text of a file that was edited by hand; undefined: it was not. "busy": it is about to be written. */
  async edited(path: string): Promise<Edit | "busy" | undefined> {
    const known = this.#digests.get(path);
    const text = await this.read(path);
    if (this.#isDue(path) || this.#digests.get(path) !== known) return "busy";
    const digest = digestIfAny(text);
    return digest === known ? undefined : { text, digest };
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
    if (object === undefined) {
      await this.disk.remove(whole);
      for (const known of [this.#digests, this.#decided, this.#held]) known.delete(path);
      return;
    }
    const text = textOf(object);
    // A file that was edited or removed by hand stays so until that is decided on; its object is written then.
    const mayReplace = (present: string | undefined): boolean => this.#isKnown(path, present);
    if (!(await this.disk.replaceIf(whole, text, { mode: modeOf(resource), mayReplace }))) {
      this.#held.add(path);
      this.#onHeld?.(path);
      return;
    }
    this.#held.delete(path);
    this.#digests.set(path, digestOf(text));
    this.#decided.delete(path);
  }

  #isKnown(path: string, text: string | undefined): boolean {
    const digest = digestIfAny(text);
    return digest === this.#digests.get(path) || (this.#decided.has(path) && digest === this.#decided.get(path));
  }
}

function digestIfAny(text: string | undefined): string | undefined {
  return text === undefined ? undefined : digestOf(text);
}
