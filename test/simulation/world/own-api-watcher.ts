// A client of the API of a node without a cluster that follows a resource, as `kubectl get -w`: it lists, watches from
// that version on, and goes on with a new watch where one has ended.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { kernel } from "../kernel/kernel.js";
import { AdminChannel, pause } from "./own-api-client.js";
import { versionOf } from "./own-api.js";

export interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: ApiObject;
}

/** Beside the watches of the kubelet, which last longer. */
const TIMEOUT_SECONDS = 200;

export class OwnApiWatcher {
  /** Gets each list. */
  onList: (version: number, objects: readonly ApiObject[]) => void = () => undefined;
  /** Gets each event, with the version that the watcher has had before. */
  onEvent: (event: WatchEvent, after: number) => void = () => undefined;
  private readonly channel = new AdminChannel();

  constructor(private readonly path: string) {
    kernel.post(kernel.world, () => void this.follow());
  }

  private async follow(): Promise<void> {
    let version: number | undefined;
    for (;;) {
      try {
        version = version === undefined ? await this.list() : await this.watch(version);
      } catch (error) {
        if (!(error instanceof CutError)) await pause();
        else version = error.version;
      }
    }
  }

  private async list(): Promise<number | undefined> {
    const { status, body } = await this.get(this.path);
    let text = "";
    for await (const part of body as AsyncIterable<Buffer>) text += part.toString();
    if (status !== 200) {
      await pause();
      return undefined;
    }
    const { metadata, items } = JSON.parse(text) as { metadata: { resourceVersion: string }; items: ApiObject[] };
    const version = Number(metadata.resourceVersion);
    this.onList(version, items);
    return version;
  }

  /** @returns the version to go on from; undefined: with a list */
  private async watch(from: number): Promise<number | undefined> {
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${TIMEOUT_SECONDS}&resourceVersion=${from}`;
    const { status, body } = await this.get(`${this.path}?${query}`);
    if (status !== 200) {
      await pause();
      return status === 410 ? undefined : from;
    }
    let version = from;
    let rest = "";
    try {
      for await (const part of body as AsyncIterable<Buffer>) {
        const lines = (rest + part.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const event = JSON.parse(line) as WatchEvent;
          this.onEvent(event, version);
          if (event.type === "ERROR") return undefined;
          version = versionOf(event.object);
        }
      }
    } catch {
      throw new CutError(version);
    }
    return version;
  }

  private get(path: string) {
    const request = { method: "GET", path, headers: { accept: "application/json" }, body: undefined };
    return this.channel.send(request, new AbortController().signal);
  }
}

/** The connection of a watch broke after this version. */
class CutError extends Error {
  constructor(readonly version: number) {
    super("the watch was cut");
  }
}
