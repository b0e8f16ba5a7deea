// Objects of the API in memory, behind the client's port: what unit tests of volumes need of a server. Every call is
// kept as "get nodes/node-1"; `failing` makes calls of that text fail.

import { randomUUID } from "node:crypto";
import { ApiConnectionError, ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import type {
  ApiClient,
  ApiList,
  ApiObject,
  ObjectRef,
  PatchOptions,
  ResourceKind,
} from "../../../src/shared/kubernetes/api/client/port.js";

type Bag = Record<string, unknown>;

export class MemoryApi implements ApiClient {
  readonly calls: string[] = [];
  /** Beginning of a call's text → the error; undefined for a server that is away. */
  readonly failing = new Map<string, ApiError | undefined>();
  private readonly objects = new Map<string, ApiObject>();
  private version = 0;

  put<T extends ApiObject>(kind: ResourceKind<T>, object: T): T {
    const stored = structuredClone(object);
    stored.metadata = {
      uid: randomUUID(),
      ...stored.metadata,
      resourceVersion: String(++this.version),
    };
    this.objects.set(key(kind, stored.metadata), stored);
    return structuredClone(stored);
  }
  find<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): T | undefined {
    return structuredClone(this.objects.get(key(kind, ref))) as T | undefined;
  }
  remove<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): void {
    this.objects.delete(key(kind, ref));
  }
  count(call: string): number {
    return this.calls.filter((one) => one.startsWith(call)).length;
  }

  async get<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): Promise<T> {
    await this.called("get", kind, ref);
    return this.known(kind, ref);
  }
  async list<T extends ApiObject>(kind: ResourceKind<T>): Promise<ApiList<T>> {
    await this.called("list", kind, { name: "" });
    const prefix = `${kind.resource}/`;
    const items = [...this.objects].flatMap(([at, object]) => (at.startsWith(prefix) ? [object as T] : []));
    return { metadata: { resourceVersion: String(this.version) }, items: structuredClone(items) };
  }
  async create<T extends ApiObject>(kind: ResourceKind<T>, object: T): Promise<T> {
    const ref = { name: object.metadata.name ?? "", ...object.metadata };
    await this.called("create", kind, ref);
    if (this.objects.has(key(kind, ref))) throw new ApiError(409, "AlreadyExists", `${ref.name} already exists`);
    return this.put(kind, object);
  }
  createSub<R>(): Promise<R> {
    return Promise.reject(new Error("no subresources here"));
  }
  async update<T extends ApiObject>(kind: ResourceKind<T>, object: T): Promise<T> {
    const ref = { name: object.metadata.name ?? "", ...object.metadata };
    await this.called("update", kind, ref);
    const before = this.known(kind, ref);
    this.checkVersion(before, object.metadata.resourceVersion);
    return this.put(kind, object);
  }
  async patch<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions = {},
  ): Promise<T> {
    await this.called(options.subresource === undefined ? "patch" : `patch-${options.subresource}`, kind, ref);
    if (options.type !== "merge") throw new Error("only merge patches here");
    const before = this.known(kind, ref);
    this.checkVersion(before, (body as Partial<ApiObject>).metadata?.resourceVersion);
    return this.put(kind, merged(before as unknown as Bag, body as Bag) as unknown as T);
  }
  async delete<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): Promise<void> {
    await this.called("delete", kind, ref);
    this.known(kind, ref);
    this.objects.delete(key(kind, ref));
  }
  watch(): never {
    throw new Error("no watches here");
  }
  closeConnections(): void {
    this.calls.push("closeConnections");
  }
  close(): void {
    this.calls.push("close");
  }

  private async called(verb: string, kind: ResourceKind<ApiObject>, ref: { name?: string; namespace?: string }) {
    const call = `${verb} ${key(kind, ref)}`;
    this.calls.push(call);
    await Promise.resolve();
    for (const [prefix, error] of this.failing) {
      if (call.startsWith(prefix)) throw error ?? new ApiConnectionError("the API server is away");
    }
  }
  private known<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): T {
    const object = this.find(kind, ref);
    if (object === undefined) throw new ApiError(404, "NotFound", `${kind.resource} "${ref.name}" not found`);
    return object;
  }
  private checkVersion(before: ApiObject, version: string | undefined): void {
    if (version === undefined || version === before.metadata.resourceVersion) return;
    throw new ApiError(409, "Conflict", "the object has been modified");
  }
}

function key(kind: ResourceKind<ApiObject>, ref: { name?: string; namespace?: string }): string {
  const { namespace, name = "" } = ref;
  return `${kind.resource}/${kind.namespaced ? `${namespace ?? ""}/` : ""}${name}`;
}

function merged(before: Bag, patch: Bag): Bag {
  const result: Bag = { ...before };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else if (isBag(value)) result[name] = merged(isBag(result[name]) ? result[name] : {}, value);
    else result[name] = value;
  }
  return result;
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
