// The store's record of configurations: assigned, running, last known good, on trial, bad. Each is one small versioned
// file. A damaged file affects only itself: it is set aside and counts as missing.

import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { WallTime } from "../../../shared/base/clock/moments.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { makeFolder } from "../../../shared/io/fs/make-folder.js";
import { readState, removeLeftovers, writeState } from "../../../shared/io/fs/state-file.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { isDigest } from "./config-files.js";

export interface Pointer {
  readonly digest: string;
  /** RFC 3339. */
  readonly since: string;
  /** The ConfigMap it came from, with UID and resourceVersion; absent: the node's own files. */
  readonly configMap?: ConfigMapReference;
}

export interface Trial extends Pointer {
  /** Starts so far that did not end in order after having been healthy. */
  readonly starts: number;
  /** Why a start under it failed, as the end of "failed: …". */
  readonly failure?: string;
}

export interface BadMark extends Pointer {
  /** As the end of "the configuration …". */
  readonly reason: string;
}

interface Announcement {
  /** Digest of the configuration that is now active. */
  readonly digest: string;
  readonly message: string;
  /** The API server has it. */
  readonly sent: boolean;
}

export interface Meta {
  assigned: Pointer;
  "last-known-good": Pointer;
  current: Pointer;
  trial: Trial;
  bad: { marks: readonly BadMark[] };
  /** Wall times, ms, of the last restarts for a changed configuration. */
  restarts: { times: readonly WallTime[] };
  /** The event of the last change to a configuration, for the process that follows a killed one. */
  announcement: Announcement;
}

/** Marks beyond this are forgotten, the oldest first. */
const MAX_BAD_MARKS = 50;
const VERSION = 1;

export class MetaStore {
  private readonly kept: Partial<Meta> = {};
  /** Writes go one after the other, so that the disk ends with what memory has. */
  private writes: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Reads all files; makes the folder. Only an unusable folder rejects. */
  async load(): Promise<void> {
    await makeFolder(this.folder, 0o700);
    await removeLeftovers(this.path("assigned"));
    this.keep("assigned", await this.read("assigned", pointer));
    this.keep("last-known-good", await this.read("last-known-good", pointer));
    this.keep("current", await this.read("current", pointer));
    this.keep("trial", await this.read("trial", trial));
    this.keep("bad", await this.read("bad", badMarks));
    this.keep("restarts", await this.read("restarts", restarts));
    this.keep("announcement", await this.read("announcement", announcement));
  }

  get<K extends keyof Meta>(name: K): Meta[K] | undefined {
    return this.kept[name];
  }

  get bad(): readonly BadMark[] {
    return this.kept.bad?.marks ?? [];
  }

  /** Kept in memory even where the disk refuses it, which rejects. Undefined removes. */
  async set<K extends keyof Meta>(name: K, value: Meta[K] | undefined): Promise<void> {
    this.keep(name, value);
    const path = this.path(name);
    const write = this.writes.then(() =>
      value === undefined ? rm(path, { force: true }) : writeState(path, { version: VERSION, ...value }),
    );
    this.writes = write.catch(() => undefined);
    await write;
  }

  /** A pointer to `digest` that begins now; one that points there already keeps its time. */
  async point(
    name: "assigned" | "last-known-good" | "current",
    digest: string,
    configMap?: ConfigMapReference,
  ): Promise<void> {
    const before = this.kept[name];
    const isSame = before?.digest === digest;
    if (isSame && isDeepStrictEqual(before.configMap, configMap)) return;
    await this.set(
      name,
      omitUndefined({
        digest,
        since: isSame ? before.since : this.time(),
        configMap,
      }),
    );
  }

  async markBad(digest: string, reason: string): Promise<void> {
    const others = this.bad.filter((mark) => mark.digest !== digest);
    const marks = [...others, { digest, reason, since: this.time() }].slice(-MAX_BAD_MARKS);
    await this.set("bad", { marks });
  }

  time(): string {
    return new Date(this.clock.now()).toISOString();
  }

  private keep<K extends keyof Meta>(name: K, value: Meta[K] | undefined): void {
    if (value === undefined) Reflect.deleteProperty(this.kept, name);
    else this.kept[name] = value;
  }

  private path(name: keyof Meta): string {
    return join(this.folder, name);
  }

  /** A path that readState can't read at all, for example a folder of that name, is set aside as well. */
  private async read<T>(name: keyof Meta, decode: (value: unknown) => T): Promise<T | undefined> {
    const path = this.path(name);
    const { clock, log } = this;
    try {
      return await readState(path, decode, { clock, log });
    } catch (error) {
      const aside = `${path}.corrupt-${this.time().replaceAll(":", "")}`;
      log.warn(
        { path, aside, err: error },
        `${path} cannot be read: setting it aside as ${aside}, starting without it`,
      );
      await rename(path, aside).catch((cause: unknown) => {
        log.warn({ path, err: cause }, `${path} cannot be set aside`);
      });
      return undefined;
    }
  }
}

function members(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  return value as Record<string, unknown>;
}

function versioned(value: unknown): Record<string, unknown> {
  const found = members(value);
  if (found["version"] !== VERSION) throw new Error(`version ${JSON.stringify(found["version"])} is not known`);
  return found;
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new Error(`${name} is not a string`);
  return value;
}

function plainPointer(found: Record<string, unknown>): Pointer {
  const digest = text(found["digest"], "digest");
  if (!isDigest(digest)) throw new Error("digest is not a SHA-256");
  const configMap = found["configMap"];
  return omitUndefined({
    digest,
    since: text(found["since"], "since"),
    configMap: configMap !== undefined ? configMapReference(configMap) : undefined,
  });
}

/** Throws on any other shape. */
export function configMapReference(value: unknown): ConfigMapReference {
  const found = members(value);
  const optional = (name: "uid" | "resourceVersion"): Partial<ConfigMapReference> =>
    found[name] === undefined ? {} : { [name]: text(found[name], name) };
  return {
    namespace: text(found["namespace"], "namespace"),
    name: text(found["name"], "name"),
    kubeletConfigKey: text(found["kubeletConfigKey"], "kubeletConfigKey"),
    ...optional("uid"),
    ...optional("resourceVersion"),
  };
}

function pointer(value: unknown): Pointer {
  return plainPointer(versioned(value));
}

function trial(value: unknown): Trial {
  const found = versioned(value);
  const { starts, failure } = found;
  if (typeof starts !== "number" || !Number.isSafeInteger(starts) || starts < 0) throw new Error("starts is no count");
  return omitUndefined({
    ...plainPointer(found),
    starts,
    failure: failure === undefined ? undefined : text(failure, "failure"),
  });
}

function restarts(value: unknown): Meta["restarts"] {
  const { times } = versioned(value);
  const isTimes = Array.isArray(times) && times.every((time) => typeof time === "number" && Number.isFinite(time));
  if (!isTimes) throw new Error("times is not a list of times");
  return { times: times as WallTime[] };
}

function announcement(value: unknown): Meta["announcement"] {
  const found = versioned(value);
  return {
    digest: text(found["digest"], "digest"),
    message: text(found["message"], "message"),
    sent: found["sent"] === true,
  };
}

function badMarks(value: unknown): Meta["bad"] {
  const { marks } = versioned(value);
  if (!Array.isArray(marks)) throw new Error("marks is not a list");
  return {
    marks: marks.map((mark: unknown) => {
      const found = members(mark);
      return { ...plainPointer(found), reason: text(found["reason"], "reason") };
    }),
  };
}
