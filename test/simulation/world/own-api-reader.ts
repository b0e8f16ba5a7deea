// A client of the API of a node without a cluster that follows objects, as informers do: it begins with a list, with
// pages of one, or with a stream of the present objects, and watches from there. Where a watch ends it goes on from the
// last version that it has seen; where that is too old it begins anew.

import { READERS_GROUP } from "../../../src/shared/contracts/apiserver.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { User } from "../../../src/workers/server/auth/user.js";
import { kernel } from "../kernel/kernel.js";
import { Channel, type WireResponse } from "../modules/api-channel.js";
import { pause } from "./own-api-client.js";
import type { WatchEvent } from "./own-api-watcher.js";
import { versionOf } from "./own-api.js";

/** Which objects are followed: as the server is asked, and as the world sees it. */
export const SELECTIONS = {
  all: { query: "", selects: (): boolean => true },
  even: { query: "labelSelector=turn%3Deven", selects: (object: ApiObject): boolean => turnOf(object) === "even" },
  uneven: { query: "labelSelector=turn%21%3Deven", selects: (object: ApiObject): boolean => turnOf(object) !== "even" },
  running: { query: "fieldSelector=status.phase%3DRunning", selects: isRunning },
  first: {
    query: "fieldSelector=metadata.name%3Dbig-0",
    selects: ({ metadata }: ApiObject) => metadata.name === "big-0",
  },
} as const;

export interface Follow {
  resource: "pods" | "configmaps" | "secrets";
  selection: keyof typeof SELECTIONS;
  begins: "list" | "pages" | "stream";
  /** The administrator, or a user who may only look. */
  as: string;
  bookmarks: boolean;
  /** Each watch ends after this time. */
  timeoutSeconds: number;
  /** It takes so long for each piece of a response; absent: no time. */
  paceMs?: number;
}

export interface ReaderEvents {
  /** All pages, or all of the stream. */
  listed(reader: ApiReader, version: number, objects: readonly ApiObject[]): void;
  /** `after`: the version that the reader has had before. */
  event(reader: ApiReader, event: WatchEvent, after: number): void;
  /** Its version is too old, or that of the list that it was getting: it begins anew. */
  expired(reader: ApiReader): void;
  /** Another event came before the last earlier object. */
  early(reader: ApiReader, event: WatchEvent): void;
  /** A response with this status; 0: none came, or it was cut. */
  answered(reader: ApiReader, verb: "list" | "watch", status: number): void;
}

const PAGE = 2;
const TOO_OLD = 410;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

class UserChannel extends Channel {
  constructor(protected override readonly user: User) {
    super();
  }
}

export class ApiReader {
  /** The last version that it has seen; undefined: it begins anew. */
  version: number | undefined;
  /** The versions of the objects that it has. */
  readonly objects = new Map<string, number>();
  /** Steady moment at which its present watch was answered; undefined: it has none. */
  watchingSince: number | undefined;
  hasLeft = false;
  private awayMs = 0;
  private connection = new AbortController();
  private readonly channel: Channel;

  constructor(
    readonly follow: Follow,
    private readonly events: ReaderEvents,
  ) {
    const groups = follow.as === "admin" ? ["system:masters"] : [READERS_GROUP];
    this.channel = new UserChannel({ name: follow.as, groups });
    kernel.post(kernel.world, () => void this.goOn());
  }

  /** The connection breaks, and the client connects again after this time. */
  cut(awayMs: number): void {
    this.awayMs = awayMs;
    this.connection.abort(new Error("the connection was cut"));
  }

  leave(): void {
    this.hasLeft = true;
    this.connection.abort(new Error("the client leaves"));
  }

  private async goOn(): Promise<void> {
    while (!this.hasLeft) {
      const { awayMs } = this;
      this.awayMs = 0;
      if (awayMs > 0) await pause(awayMs);
      this.connection = new AbortController();
      try {
        if (this.version !== undefined || this.follow.begins === "stream") await this.watch(this.version);
        else await this.list();
      } catch {
        if (this.connection.signal.aborted) continue;
        this.events.answered(this, this.version === undefined ? "list" : "watch", 0);
        await pause();
      }
    }
  }

  private async list(): Promise<void> {
    const objects: ApiObject[] = [];
    let next = this.follow.begins === "pages" ? `limit=${PAGE}` : "";
    let version = 0;
    do {
      const { status, body } = await this.get(next);
      const text = await textOf(body);
      this.events.answered(this, "list", status);
      if (status !== 200) {
        await pause();
        return;
      }
      const { metadata, items } = JSON.parse(text) as ListBody;
      version = Number(metadata.resourceVersion);
      objects.push(...items);
      if (metadata.continue !== undefined) await pause(this.follow.paceMs ?? 0);
      next = metadata.continue === undefined ? "" : `limit=${PAGE}&continue=${metadata.continue}`;
    } while (next !== "");
    this.has(version, objects);
  }

  private has(version: number, objects: readonly ApiObject[]): void {
    this.version = version;
    this.objects.clear();
    for (const object of objects) this.objects.set(keyOf(object), versionOf(object));
    this.events.listed(this, version, objects);
  }

  /** @param from undefined: the present objects come first */
  private async watch(from: number | undefined): Promise<void> {
    const { bookmarks, timeoutSeconds } = this.follow;
    const begin =
      from === undefined ? "sendInitialEvents=true&resourceVersionMatch=NotOlderThan" : `resourceVersion=${from}`;
    const allowed = bookmarks || from === undefined ? "&allowWatchBookmarks=true" : "";
    const { status, body } = await this.get(`watch=true&timeoutSeconds=${timeoutSeconds}&${begin}${allowed}`);
    this.events.answered(this, "watch", status);
    if (status !== 200) {
      if (status === TOO_OLD) this.version = undefined;
      await pause();
      return;
    }
    this.watchingSince = kernel.monotonic;
    const first: ApiObject[] = [];
    let rest = "";
    try {
      for await (const part of body as AsyncIterable<Buffer>) {
        const lines = (rest + part.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (!this.take(JSON.parse(line) as WatchEvent, first)) return;
      }
    } finally {
      this.watchingSince = undefined;
    }
  }

  /** @returns false: the watch is over */
  private take(event: WatchEvent, first: ApiObject[]): boolean {
    const { type, object } = event;
    const { version } = this;
    if (type === "ERROR") {
      if (version !== undefined) this.events.event(this, event, version);
      this.version = undefined;
      this.events.expired(this);
      return false;
    }
    if (version === undefined) {
      if (type === "ADDED") first.push(object);
      else if (object.metadata.annotations?.[INITIAL_EVENTS_END] === "true") this.has(versionOf(object), first);
      else this.events.early(this, event);
      return true;
    }
    this.events.event(this, event, version);
    this.version = versionOf(object);
    if (type === "DELETED") this.objects.delete(keyOf(object));
    else if (type !== "BOOKMARK") this.objects.set(keyOf(object), this.version);
    return true;
  }

  private get(words: string): Promise<WireResponse> {
    const { resource, selection, paceMs } = this.follow;
    const query = [words, SELECTIONS[selection].query].filter((one) => one !== "").join("&");
    const path = `/api/v1/${resource}${query === "" ? "" : `?${query}`}`;
    const request = { method: "GET", path, headers: { accept: "application/json" }, body: undefined };
    return this.channel.send(paceMs === undefined ? request : { ...request, paceMs }, this.connection.signal);
  }
}

interface ListBody {
  metadata: { resourceVersion: string; continue?: string };
  items: ApiObject[];
}

async function textOf(body: WireResponse["body"]): Promise<string> {
  let text = "";
  for await (const part of body as AsyncIterable<Buffer>) text += part.toString();
  return text;
}

export function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function turnOf({ metadata }: ApiObject): unknown {
  return metadata.labels?.["turn"];
}

function isRunning({ status }: ApiObject): boolean {
  return (status as { phase?: string } | undefined)?.phase === "Running";
}
