// Files of objects that people change while the server runs. A changed file is a replacement of its object, a new one a
// creation, one that is gone a deletion, all under the rules of requests. A file that stays unreadable or breaks a rule
// is set aside, and the file is written again as the object is. A look that the disk refuses is repeated.
// Invariant: what the store itself writes is no change.

import type { Timer } from "../../shared/base/clock/clock.js";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { serverContext } from "./furnish.js";
import { ApiError } from "./objects/errors.js";
import { copyOf, type ApiObject } from "./objects/object.js";
import type { Resource } from "./objects/resource.js";
import { RESOURCES } from "./objects/resources.js";
import { FolderWatch } from "./store/folder-watch.js";
import { objectOf, pathOf } from "./store/object-file.js";
import { keyOf } from "./store/tables.js";
import { createObject } from "./verbs/create.js";
import { deleteObject } from "./verbs/delete.js";
import { updateObject } from "./verbs/update.js";
import type { World } from "./world.js";

const SETTLE_MS = 300;
/** A file is missing or unreadable when it has been so for this time: an editor may be in the middle of its write. */
const PATIENCE_MS = 2000;
/** Errors of the disk and the system that pass. */
const PASSING: ReadonlySet<string | undefined> = new Set(["EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC"]);

export class HandEdits {
  readonly #watch: FolderWatch;
  readonly #timers = new Map<string, Timer>();
  /** What was missing or unreadable at the last look, by path. */
  readonly #doubts = new Map<string, string | undefined>();
  /** The disk refused the last look at these. */
  readonly #failing = new Set<string>();
  /** One file after the other. */
  #work: Promise<void> = Promise.resolve();
  /** The server stops: files that were in doubt are decided at once. */
  #isEnding = false;

  constructor(
    private readonly world: World,
    private readonly log: Pick<Logger, "info" | "warn">,
  ) {
    this.#watch = new FolderWatch({
      root: world.store.files.folder,
      onFile: (path) => this.#touch(path, SETTLE_MS),
      onFolder: (folder) => {
        for (const path of world.store.files.paths) if (path.startsWith(`${folder}/`)) this.#touch(path, SETTLE_MS);
      },
      onProblem: (err) => log.warn({ err }, "changes of objects' files count at the next start: no watch is possible"),
    });
  }

  start(): Promise<void> {
    this.world.store.files.onHeld((path) => this.#touch(path, SETTLE_MS));
    return this.#watch.start();
  }

  /** Files under way are taken or set aside: the next start could not tell what was good before. */
  async close(): Promise<void> {
    this.#watch.close();
    this.#isEnding = true;
    for (const [path, timer] of this.#timers) {
      timer.cancel();
      this.#lookAt(path);
    }
    await this.#work;
  }

  #touch(path: string, ms: number): void {
    if (this.#isEnding || !path.endsWith(".json")) return;
    this.#timers.get(path)?.cancel();
    this.#timers.set(path, this.world.clock.after(ms, () => this.#lookAt(path)).unref());
  }

  #lookAt(path: string): void {
    this.#timers.delete(path);
    this.#work = this.#work
      .then(() => this.#look(path))
      .then(() => void this.#failing.delete(path))
      .catch((error: unknown) => this.#failed(path, error));
  }

  /** No event of the file may come after an error that passes. */
  #failed(path: string, err: unknown): void {
    const isNew = !this.#failing.has(path);
    if (PASSING.has(errorCode(err))) {
      this.#failing.add(path);
      this.#touch(path, PATIENCE_MS);
    }
    if (isNew) this.log.warn({ err, path }, `the file of an object was not read: ${errorText(err)}`);
  }

  async #look(path: string): Promise<void> {
    const { store } = this.world;
    const resource = RESOURCES.find(({ key }) => path.startsWith(`${key}/`));
    const found = resource === undefined ? undefined : await store.files.edited(path);
    if (found === "busy") this.#touch(path, PATIENCE_MS);
    if (resource === undefined || found === undefined || found === "busy") {
      this.#doubts.delete(path);
      // The edit was taken back.
      if (resource !== undefined && found === undefined && store.files.isHeld(path)) {
        store.restore(resource, path, this.#objectAt(resource, path));
      }
      return;
    }
    const { text, digest } = found;
    try {
      const object = text === undefined ? undefined : objectOf(text, path, resource);
      if (object === undefined && this.#isDoubted(path, text)) return;
      store.files.decide(path, digest);
      await this.#take(resource, path, object);
    } catch (error) {
      if (!(error instanceof ApiError) && this.#isDoubted(path, text)) return;
      // The disk is full, for example.
      if (error instanceof ApiError && error.code >= 500) {
        store.files.undecide(path);
        this.#touch(path, PATIENCE_MS);
      } else {
        store.files.decide(path, digest);
        await this.#refuse(resource, path, text, error);
      }
    }
  }

  /** Once: the next look decides. */
  #isDoubted(path: string, text: string | undefined): boolean {
    if (this.#isEnding || (this.#doubts.has(path) && this.#doubts.get(path) === text)) return false;
    this.#doubts.set(path, text);
    this.#touch(path, PATIENCE_MS);
    return true;
  }

  /** @param wanted undefined: the file is gone */
  async #take(resource: Resource, path: string, wanted: ApiObject | undefined): Promise<void> {
    const { world, log } = this;
    const { metadata } = wanted ?? this.#objectAt(resource, path) ?? {};
    if (metadata === undefined) return;
    const { name, namespace = "" } = metadata;
    const target = { resource, namespace, name };
    const warnings: string[] = [];
    await world.store.change((tx) => {
      const context = serverContext(world, tx, warnings);
      if (wanted === undefined) return deleteObject(target, {}, context);
      const body = copyOf(wanted);
      // An edit by hand counts, whatever version it began from.
      delete body.metadata.resourceVersion;
      const isThere = tx.get(resource, keyOf(namespace, name)) !== undefined;
      return isThere ? updateObject(target, "", () => body, context) : createObject(target, body, context);
    });
    this.#doubts.delete(path);
    const how = wanted === undefined ? "removed" : "changed";
    log.info({ path, warnings }, `the file of ${resource.kind} ${keyOf(namespace, name)} was ${how} by hand`);
    // It may differ in what no one may change, such as a status.
    world.store.restore(resource, path, this.#objectAt(resource, path));
  }

  async #refuse(resource: Resource, path: string, text: string | undefined, why: unknown): Promise<void> {
    this.#doubts.delete(path);
    const { store } = this.world;
    if (text !== undefined) await store.files.setAside(path, text);
    store.restore(resource, path, this.#objectAt(resource, path));
    const what = text === undefined ? "the removal of an object's file" : "the file of an object";
    const where = text === undefined ? "" : `, its text is in ${path}.rejected`;
    this.log.warn({ path }, `${what} cannot be taken: ${errorText(why)}; the object stays as it was${where}`);
  }

  #objectAt(resource: Resource, path: string): ApiObject | undefined {
    return this.world.store.entries(resource).find(([, object]) => pathOf(resource, object) === path)?.[1];
  }
}
