// The interface to an API server, independent of the connection: one typed client for every kind of object.
// Invariant: every call takes a signal and has its own deadline; every refusal of the server is an ApiError.

import type { ObjectMeta } from "../meta.js";

/** An object of the API as it travels: JSON, times as RFC 3339 strings. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata: Partial<ObjectMeta>;
}

/** The metadata that is read of an object over the client's limit of size. */
export type ObjectHead = Partial<
  Pick<
    ObjectMeta,
    | "name"
    | "namespace"
    | "uid"
    | "resourceVersion"
    | "generation"
    | "creationTimestamp"
    | "deletionTimestamp"
    | "deletionGracePeriodSeconds"
  >
>;

/**
 * The object as the caller knows it, with the metadata that was read, in place of one over the limit. undefined: it is
 * left out.
 */
export type Restore<T> = (head: ObjectHead) => T | undefined;

/** A kind and its URL path: /api/v1/… for the group "", /apis/<group>/<version>/… for others. */
export interface ResourceKind<T extends ApiObject> {
  group: string;
  version: string;
  /** Plural, lower case: "pods". */
  resource: string;
  kind: string;
  namespaced: boolean;
  /** Never set: keeps the type of the objects. */
  readonly object?: T;
}

export interface ObjectRef {
  /** Absent for kinds without namespaces. */
  namespace?: string;
  name: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds; the client's own deadline (30 s) when absent. */
  timeoutMs?: number;
}

export interface CreateOptions extends CallOptions {
  /**
   * The caller does not use the server's version of the object. The response is not decoded; the call returns the given
   * object.
   */
  unread?: boolean;
}

export interface ListOptions<T extends ApiObject = ApiObject> extends CallOptions {
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
  /** "0": the state in the server's cache. */
  resourceVersion?: string;
  /** Absent: NotOlderThan, but Exact where there is a limit. */
  resourceVersionMatch?: "Exact" | "NotOlderThan";
  limit?: number;
  continue?: string;
  /** Applied to each object as it arrives, once: what it drops is never in memory with the rest of the list. */
  transform?: (object: T) => T;
  restore?: Restore<T>;
}

export interface ApiList<T> {
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

export type PatchType = "json" | "merge" | "strategic";

export interface PatchOptions<T extends ApiObject = ApiObject> extends CallOptions {
  /** "status", "resize", … */
  subresource?: string;
  type?: PatchType;
  /** For a response over the limit of size: the server has applied the patch. */
  restore?: Restore<T>;
}

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
}

export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | { type: "BOOKMARK"; resourceVersion: string; initialEventsEnd: boolean };

export interface WatchOptions<T extends ApiObject = ApiObject> {
  namespace?: string;
  fieldSelector?: string;
  labelSelector?: string;
  /** Events after this version; "" or absent: begins with the current objects. */
  resourceVersion?: string;
  /** The list comes as events, and a bookmark ends it (KEP-3157). */
  sendInitialEvents?: boolean;
  /** The server ends the watch after so many seconds. */
  timeoutSeconds?: number;
  /** The object is already known at this version from a response. Its change comes as a bookmark and is not decoded. */
  isKnown?: (uid: string, resourceVersion: string) => boolean;
  restore?: Restore<T>;
  signal: AbortSignal;
}

export interface ApiClient {
  get<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    options?: CallOptions & { resourceVersion?: string },
  ): Promise<T>;
  list<T extends ApiObject>(kind: ResourceKind<T>, options?: ListOptions<T>): Promise<ApiList<T>>;
  create<T extends ApiObject>(kind: ResourceKind<T>, object: T, options?: CreateOptions): Promise<T>;
  /** POST to a subresource: serviceaccounts/token, pods/eviction, … */
  createSub<R>(
    kind: ResourceKind<ApiObject>,
    ref: ObjectRef,
    subresource: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<R>;
  update<T extends ApiObject>(
    kind: ResourceKind<T>,
    object: T,
    options?: CallOptions & { subresource?: string },
  ): Promise<T>;
  /** Type "strategic" by default. */
  patch<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    body: unknown,
    options?: PatchOptions<T>,
  ): Promise<T>;
  delete<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** Ends when the server ends it; throws an ApiError (isGone: list again) or an ApiConnectionError. */
  watch<T extends ApiObject>(kind: ResourceKind<T>, options: WatchOptions<T>): AsyncIterable<WatchEvent<T>>;
  /** Drops open connections, so that the next call makes new ones; calls under way fail. */
  closeConnections(): void;
  /** Ends everything; later calls are refused. */
  close(): void;
}
