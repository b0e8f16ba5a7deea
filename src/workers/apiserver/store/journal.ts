// The append-only log of changes. A change is made when its line is synced; the files of objects follow from it.
// Its first line is a checkpoint: what the files held when the log began. So a file that was edited while no server ran
// differs from one that a crash left behind.
// Invariant: a line counts when it ends with a line feed. After a failed append nothing is appended before a new log is
// in place, because the end of the old one is not known.

import { parsedJson } from "../objects/json.js";
import { fieldsAt, isFields, type ApiObject, type Fields } from "../objects/object.js";
import type { Appendable, Disk } from "./disk.js";

const VERSION = 1;

export interface Entry {
  revision: number;
  /** Path of the object's file below the folder of objects. */
  path: string;
  /** Absent: the object is gone. */
  object?: ApiObject;
}

interface Checkpoint {
  version: typeof VERSION;
  revision: number;
  /** Digest of each file, by path. */
  files: Record<string, string>;
}

export interface Replayed {
  checkpoint: Omit<Checkpoint, "version">;
  entries: Entry[];
  /** Why lines were left out; undefined: none were, but one that a crash cut. */
  damage: string | undefined;
}

export class Journal {
  #file: Appendable | undefined;
  #bytes = 0;

  constructor(
    private readonly path: string,
    private readonly disk: Disk,
  ) {}

  /** Size of the log's file. */
  get bytes(): number {
    return this.#bytes;
  }

  async read(): Promise<Replayed> {
    const replayed: Replayed = { checkpoint: { revision: 0, files: {} }, entries: [], damage: undefined };
    const text = (await this.disk.read(this.path)) ?? "";
    // The last line has no line feed if a crash cut it: it was not answered.
    const lines = text.split("\n").slice(0, -1);
    for (const [index, line] of lines.entries()) {
      const parsed = index === 0 ? checkpointOf(line) : entryOf(line);
      if (parsed === undefined) {
        replayed.damage = `line ${index + 1} of ${this.path} is none of this version`;
        // A later line may depend on it.
        break;
      }
      if ("files" in parsed) replayed.checkpoint = parsed;
      else replayed.entries.push(parsed);
    }
    return replayed;
  }

  /** A new log with a checkpoint takes the old one's place in one step. */
  async restart(checkpoint: Omit<Checkpoint, "version">): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    const text = `${JSON.stringify({ version: VERSION, ...checkpoint } satisfies Checkpoint)}\n`;
    await this.disk.replace(this.path, text, 0o600);
    this.#file = await this.disk.open(this.path);
    this.#bytes = Buffer.byteLength(text);
  }

  /** Resolves when the entries survive a loss of power. Not before the first restart(), nor while it is broken. */
  async append(lines: readonly string[]): Promise<void> {
    const file = this.#file;
    if (file === undefined) throw new Error(`${this.path} is not open`);
    const text = lines.map((line) => `${line}\n`).join("");
    try {
      await file.appendFile(text);
      await file.datasync();
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      this.#file = undefined;
      // An entry that is refused must not be there after a restart.
      await file.truncate(this.#bytes).catch(() => undefined);
      await file.close().catch(() => undefined);
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#file === undefined;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}

function parsed(line: string): Fields | undefined {
  try {
    const value = parsedJson(line);
    return isFields(value) && Number.isSafeInteger(value["revision"]) ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkpointOf(line: string): Checkpoint | undefined {
  const value = parsed(line);
  const isOne = value?.["version"] === VERSION && isFields(value["files"]);
  return isOne ? (value as unknown as Checkpoint) : undefined;
}

function entryOf(line: string): Entry | undefined {
  const value = parsed(line);
  if (value === undefined || typeof value["path"] !== "string") return undefined;
  // A path that leads out of the folder was not written by this server.
  if (value["path"].split("/").includes("..")) return undefined;
  const { object } = value;
  const isWhole = object === undefined || typeof fieldsAt(fieldsAt(value, "object"), "metadata")["name"] === "string";
  return isWhole ? (value as unknown as Entry) : undefined;
}
