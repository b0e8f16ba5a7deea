// The objects of an earlier run, from the log of changes and the files. The log counts where a crash left the file
// behind; a file that was edited while no server ran counts as one more change.

import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ApiObject } from "../objects/object.js";
import { readFields } from "../objects/read-fields.js";
import type { Resource } from "../objects/resource.js";
import type { Entry, Journal } from "./journal.js";
import { digestOf, objectOf, textOf } from "./object-file.js";
import type { ObjectFiles } from "./object-files.js";

export interface RecoveryDeps {
  readonly journal: Journal;
  readonly files: ObjectFiles;
  /** Those with files. */
  readonly resources: readonly Resource[];
  readonly log: Pick<Logger, "warn">;
  /** Versions after the last one of the log that clients may have seen: an edited file gets a later one. */
  readonly unlogged: number;
  /** Gets each object once. */
  take(resource: Resource, object: ApiObject): void;
}

/** The last revision that is taken. Afterwards `files` knows which files are behind. */
export async function recover(deps: RecoveryDeps): Promise<number> {
  const { journal, files, log } = deps;
  const { checkpoint, entries, damage } = await journal.read();
  if (damage !== undefined) log.warn(`${damage}; the files of objects count from there on`);
  const logged = versionsByPath(entries);
  const last = Math.max(checkpoint.revision, entries.at(-1)?.revision ?? 0);
  const recovery = new Recovery(deps, last + deps.unlogged);
  for (const path of await files.present()) {
    const resource = recovery.resourceOf(path);
    if (resource === undefined || !path.endsWith(".json")) continue;
    const text = (await files.read(path)) ?? "";
    recovery.takeFile(path, resource, { text, known: checkpoint.files[path], logged: logged.get(path) ?? [] });
    logged.delete(path);
  }
  // Objects that a crash left without a file.
  for (const [path, versions] of logged) {
    const object = versions.at(-1)?.object;
    const resource = recovery.resourceOf(path);
    if (resource !== undefined && object !== undefined) recovery.takeBehind(path, resource, object);
  }
  return recovery.revision;
}

function versionsByPath(entries: readonly Entry[]): Map<string, Entry[]> {
  const byPath = new Map<string, Entry[]>();
  for (const entry of entries) {
    const versions = byPath.get(entry.path);
    if (versions === undefined) byPath.set(entry.path, [entry]);
    else versions.push(entry);
  }
  return byPath;
}

interface FoundFile {
  text: string;
  /** Digest at the checkpoint. */
  known: string | undefined;
  /** Versions since. */
  logged: readonly Entry[];
}

class Recovery {
  constructor(
    private readonly deps: RecoveryDeps,
    public revision: number,
  ) {}

  resourceOf(path: string): Resource | undefined {
    return this.deps.resources.find(({ key }) => path.startsWith(`${key}/`));
  }

  takeFile(path: string, resource: Resource, { text, known, logged }: FoundFile): void {
    const { files, log } = this.deps;
    const digest = digestOf(text);
    const isOfLog = digest === known || logged.some(({ object }) => object && digestOf(textOf(object)) === digest);
    const last = logged.at(-1);
    if (last !== undefined || !isOfLog) files.decide(path, digest);
    if (last !== undefined && isOfLog) {
      // The file is the log's last version, or behind it.
      if (last.object === undefined) files.want(path, { resource, object: undefined });
      else this.takeBehind(path, resource, last.object);
      return;
    }
    try {
      const object = objectOf(text, path, resource);
      if (isOfLog) {
        this.deps.take(resource, object);
        files.know(path, digest);
        return;
      }
      readFields(object);
      const metadata = { ...object.metadata, resourceVersion: String(++this.revision) };
      this.takeBehind(path, resource, { ...object, metadata });
    } catch (error) {
      log.warn({ path }, `the file of an object is left out: ${errorText(error)}`);
    }
  }

  takeBehind(path: string, resource: Resource, object: ApiObject): void {
    this.deps.take(resource, object);
    this.deps.files.want(path, { resource, object });
  }
}
