// The API server that a node without a cluster has (docs/without-a-cluster.md), as the world sees it: its port, its
// answers and its store. The server is the agent's.
// Invariant: listeners hear of a change before any client. What a crash has kept from being shown, they hear when the
// next store opens.

import { Readable } from "node:stream";
import { READERS_GROUP } from "../../../src/shared/contracts/apiserver.js";
import { parseTarget, queryOf } from "../../../src/shared/io/http/target.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { requestInfo } from "../../../src/workers/apiserver/objects/request-info.js";
import type { Resource } from "../../../src/workers/apiserver/objects/resource.js";
import { resourceAt, resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import type { Store } from "../../../src/workers/apiserver/store/store.js";
import { keyOf } from "../../../src/workers/apiserver/store/tables.js";
import type { User } from "../../../src/workers/server/auth/user.js";
import type { Gate } from "../../../src/workers/server/ports/secure-port.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import type { Response } from "../modules/api-channel.js";
import type { ClusterView, ObjectChange } from "./cluster-view.js";
import type { Listening, WireRequest } from "./machine.js";

/** A response that the server has written whole. */
export interface Answer {
  /** "create", "list" */
  verb: string;
  resource: Resource;
  namespace: string;
  /** "": the request had none. */
  name: string;
  status: number;
  body: Record<string, unknown> & { kind?: string; metadata?: Partial<ApiObject["metadata"]> };
}

interface ServedWatch {
  resource: string;
  namespace: string;
  fieldSelector: string;
  isKubelet: boolean;
  response: Response;
}

export interface OpenedStore {
  store: Store;
  /** As it was when the server before ended. */
  before: Store | undefined;
}

export class OwnApi implements ClusterView {
  readonly store: ClusterView["store"] = {
    get: (resource, namespace, name) => this.current?.get(resourceNamed(resource), keyOf(namespace, name)),
    list: (resource, namespace) =>
      (this.current?.entries(resourceNamed(resource)) ?? [])
        .map(([, object]) => object)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  };
  /** Hears of each response but those of watches, as it leaves the server. */
  readonly onAnswer = new Set<(answer: Answer) => void>();
  /** Hears of each store that opens, before its changes. */
  readonly onOpen = new Set<(opened: OpenedStore) => void>();
  /** Hears of each change of any object; `made`: the running server made it, with a version of its own. */
  readonly onAnyChange = new Set<(resource: Resource, change: ObjectChange, made: boolean) => void>();
  /** The store of the running server, or of the last one. */
  current: Store | undefined;
  private port: Listening | undefined;
  /** The watches of the running server that clients follow. */
  private readonly watches = new Set<ServedWatch>();
  /** Listeners of the present store that are not the world's. */
  private subscriptions = 0;

  onPod(listener: (change: ObjectChange) => void): void {
    this.onChange("pods", listener);
  }

  onChange(resource: string, listener: (change: ObjectChange) => void): void {
    this.onAnyChange.add(({ key }, change) => {
      if (key === resource) listener(change);
    });
  }

  listening(): Listening | undefined {
    return this.port?.owner.isAlive === true ? this.port : undefined;
  }

  /** What the running server holds for watches. */
  get held(): { watches: number; subscriptions: number; unsentBytes: number[] } {
    const watches = this.listening() === undefined ? [] : [...this.watches];
    const unsentBytes = watches.map(({ response }) => (response.destroyed ? 0 : response.writableLength));
    return { watches: watches.length, subscriptions: this.subscriptions, unsentBytes };
  }

  /** How often the kubelet follows such objects. */
  watchesOf(resource: string, namespace: string, fieldSelector: string): number {
    const all = this.listening() === undefined ? [] : [...this.watches];
    const such = all.filter((one) => one.resource === resource && one.namespace === namespace);
    return such.filter((one) => one.fieldSelector === fieldSelector && one.isKubelet).length;
  }

  /** The agent's port is open. */
  listen(owner: Owner, { handle }: Gate): void {
    this.watches.clear();
    this.port = { owner, handle: (request, response) => this.serve(handle, request, response) };
  }

  closed(): void {
    this.port = undefined;
  }

  /** The agent has a new store. */
  opened(store: Store): void {
    const before = this.current;
    kernel.as(kernel.world, () => {
      for (const listener of this.onOpen) listener({ store, before });
      this.current = store;
      for (const resource of RESOURCES) this.tellDifferences(resource, before, store);
    });
    for (const resource of RESOURCES) {
      store.subscribe(resource, (change) => kernel.as(kernel.world, () => this.tell(resource, change, true)));
    }
    this.countSubscriptions(store);
  }

  private countSubscriptions(store: Store): void {
    const subscribe = store.subscribe.bind(store);
    let count = (this.subscriptions = 0);
    const note = (more: number): void => {
      count += more;
      if (this.current === store) this.subscriptions = count;
    };
    store.subscribe = (resource, listener) => {
      const release = subscribe(resource, listener);
      note(1);
      return () => {
        release();
        note(-1);
      };
    };
  }

  private tell(resource: Resource, change: ObjectChange, made = false): void {
    for (const listener of this.onAnyChange) listener(resource, change, made);
  }

  private tellDifferences(resource: Resource, before: Store | undefined, after: Store): void {
    const old = new Map(before?.entries(resource));
    for (const [key, object] of after.entries(resource)) {
      const previous = old.get(key);
      old.delete(key);
      if (previous === undefined) this.tell(resource, { type: "ADDED", object });
      else if (previous.metadata.uid !== object.metadata.uid) {
        this.tell(resource, { type: "DELETED", object: previous, previous });
        this.tell(resource, { type: "ADDED", object });
      } else if (versionOf(previous) !== versionOf(object)) {
        this.tell(resource, { type: "MODIFIED", object, previous });
      }
    }
    for (const previous of old.values()) this.tell(resource, { type: "DELETED", object: previous, previous });
  }

  private serve(handle: Gate["handle"], given: WireRequest & { user: User }, response: Response): void {
    const { method, path, headers, body, user } = given;
    const target = parseTarget(path, "https");
    if (target === undefined) throw new Error(`${path} is no target of a request`);
    const query = queryOf(target);
    const info = requestInfo(method, target, query, resourceAt);
    const { verb, namespace, name, served: resource } = info;
    if (resource !== undefined && verb !== "watch") {
      response.onWhole = (status, text) => this.answered({ verb, resource, namespace, name, status }, text);
    }
    if (resource !== undefined && verb === "watch") {
      const fieldSelector = query.get("fieldSelector") ?? "";
      const isKubelet = user.groups.includes("system:nodes");
      const watch = { resource: resource.key, namespace, fieldSelector, isKubelet, response };
      this.watches.add(watch);
      response.once("close", () => this.watches.delete(watch));
    }
    const parts = {
      method,
      url: path,
      headers,
      httpVersionMajor: 1,
      socket: socketOf(user, response),
    };
    const request = Object.assign(Readable.from(body === undefined ? [] : [body]), parts);
    handle(request as never, response as never, { method, target, host: undefined });
  }

  private answered(about: Omit<Answer, "body">, text: string): void {
    if (!text.startsWith("{")) return;
    const body = JSON.parse(text) as Answer["body"];
    kernel.as(kernel.world, () => {
      for (const listener of this.onAnswer) listener({ ...about, body });
    });
  }
}

/** A connection of one request. Those of administrators are not counted, so nothing waits for their ends. */
function socketOf(user: User, response: Response): object {
  const isCounted = user.groups.includes(READERS_GROUP);
  const once = (_: string, ended: () => void): unknown => (isCounted ? response.once("close", ended) : undefined);
  return { user, once, destroyed: false };
}

/** 0: it has none. */
export function versionOf({ metadata }: Pick<ApiObject, "metadata">): number {
  return Number(metadata.resourceVersion ?? 0);
}
