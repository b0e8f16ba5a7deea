// Nodes and leases in memory behind the client's port: versions, conflicts, status patches; calls are kept and can
// fail.

import { ApiConnectionError, ApiError } from "../../../src/shared/kubernetes/api/client/errors.js";
import type {
  ApiClient,
  ApiObject,
  ObjectRef,
  ResourceKind,
  WatchEvent,
  WatchOptions,
} from "../../../src/shared/kubernetes/api/client/port.js";
import type { Lease } from "../../../src/shared/kubernetes/api/gen/coordination.js";
import type { Node } from "../../../src/shared/kubernetes/api/node.js";

export interface ApiCall {
  verb: "get" | "create" | "update" | "patch";
  resource: string;
  atMs: number;
  body?: unknown;
  resourceVersion?: string | undefined;
}

const refused = (status: number, reason: string): ApiError => new ApiError(status, reason, `${reason} by the test`);

export const NOT_REACHED = new ApiConnectionError("connect ECONNREFUSED");

export class MemoryApi implements ApiClient {
  readonly calls: ApiCall[] = [];
  private readonly objects = new Map<string, ApiObject>();
  private version = 0;
  /** The error of a call, if it is to fail; "lost": it is done, and its answer is lost. */
  fault: (call: ApiCall) => Error | "lost" | undefined = () => undefined;
  closedConnections = 0;
  /** Watches are refused by default: every round then reads. */
  watchable = false;
  watches = 0;
  private readonly changes: WatchEvent<Node>[] = [];
  private wake: () => void = () => undefined;

  constructor(private readonly now: () => number) {}

  get node(): Node | undefined {
    return this.objects.get("nodes/n1");
  }
  get lease(): Lease | undefined {
    return this.objects.get("leases/n1");
  }

  /** A write by another client. */
  put(resource: "nodes" | "leases", object: ApiObject): void {
    this.version++;
    const metadata = { uid: `uid-${resource}`, ...object.metadata, resourceVersion: String(this.version) };
    const put = structuredClone({ ...object, metadata });
    this.objects.set(`${resource}/${object.metadata.name ?? ""}`, put);
    if (resource === "nodes") this.notify({ type: "MODIFIED", object: structuredClone(put) });
  }
  remove(resource: "nodes" | "leases", name = "n1"): void {
    const { node } = this;
    this.objects.delete(`${resource}/${name}`);
    this.version++;
    const metadata = { ...node?.metadata, resourceVersion: String(this.version) };
    if (resource === "nodes") this.notify({ type: "DELETED", object: { ...node, metadata } });
  }
  count(verb: ApiCall["verb"], resource: string): number {
    return this.calls.filter((call) => call.verb === verb && call.resource === resource).length;
  }

  async get<T extends ApiObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    options?: { resourceVersion?: string },
  ): Promise<T> {
    return this.call({ verb: "get", resource: kind.resource, resourceVersion: options?.resourceVersion }, () =>
      this.find<T>(kind, ref.name),
    );
  }
  async create<T extends ApiObject>(kind: ResourceKind<T>, object: T): Promise<T> {
    const { name = "" } = object.metadata;
    return this.call({ verb: "create", resource: kind.resource, body: object }, () => {
      if (this.objects.has(`${kind.resource}/${name}`)) throw refused(409, "AlreadyExists");
      this.put(kind.resource as "nodes", object);
      return this.find<T>(kind, name);
    });
  }
  async update<T extends ApiObject>(kind: ResourceKind<T>, object: T): Promise<T> {
    const { name = "", resourceVersion } = object.metadata;
    return this.call({ verb: "update", resource: kind.resource, body: object }, () => {
      if (this.find(kind, name).metadata.resourceVersion !== resourceVersion) throw refused(409, "Conflict");
      this.put(kind.resource as "nodes", object);
      return this.find<T>(kind, name);
    });
  }
  async patch<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef, body: unknown): Promise<T> {
    return this.call({ verb: "patch", resource: kind.resource, body }, () => {
      const patched = mergePatch(this.find(kind, ref.name), body as Json);
      this.put(kind.resource as "nodes", patched as unknown as ApiObject);
      return this.find<T>(kind, ref.name);
    });
  }
  closeConnections(): void {
    this.closedConnections++;
  }
  close(): void {
    this.closeConnections();
  }
  list = unused;
  createSub = unused;
  delete = unused;
  /** All nodes, where the server lets itself be watched; the one reader gets every change. */
  async *watch<T extends ApiObject>(_kind: ResourceKind<T>, { signal }: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    if (!this.watchable) throw refused(403, "Forbidden");
    this.watches++;
    const { node } = this;
    if (node !== undefined) yield { type: "ADDED", object: structuredClone(node) as unknown as T };
    yield { type: "BOOKMARK", resourceVersion: String(this.version), initialEventsEnd: true };
    while (!signal.aborted) {
      const event = this.changes.shift();
      if (event !== undefined) yield event as WatchEvent<T>;
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    }
  }

  private notify(event: WatchEvent<Node>): void {
    if (this.watches === 0) return;
    this.changes.push(event);
    this.wake();
  }

  private find<T extends ApiObject>(kind: ResourceKind<T>, name: string): T {
    const found = this.objects.get(`${kind.resource}/${name}`);
    if (found === undefined) throw refused(404, "NotFound");
    return structuredClone(found) as T;
  }

  private async call<T>(call: Omit<ApiCall, "atMs">, run: () => T): Promise<T> {
    const made = { ...call, atMs: this.now() };
    this.calls.push(made);
    const fault = this.fault(made);
    await Promise.resolve();
    if (fault instanceof Error) throw fault;
    const answer = run();
    if (fault === "lost") throw NOT_REACHED;
    return answer;
  }
}

const unused = (): Promise<never> => Promise.reject(new Error("not part of this server"));

type Json = Record<string, unknown>;

/** Strategic merge, as far as status patches go: null deletes, conditions by type, addresses by directive. */
export function mergePatch(object: unknown, patch: Json): Json {
  const dropped = Object.keys(patch).filter((key) => patch[key] === null);
  const result: Json = Object.fromEntries(Object.entries(object as Json).filter(([key]) => !dropped.includes(key)));
  for (const [key, value] of Object.entries(patch)) {
    const old = result[key];
    if (value === null) continue;
    if (key === "conditions") result[key] = mergeConditions((old as Json[] | undefined) ?? [], value as Json[]);
    else if (key === "addresses") {
      const list = value as Json[];
      if (list.at(-1)?.["$patch"] !== "replace") throw new Error("addresses have no usable merge key");
      result[key] = list.slice(0, -1);
    } else if (typeof value === "object" && !Array.isArray(value)) result[key] = mergePatch(old ?? {}, value as Json);
    else result[key] = value;
  }
  return result;
}

function mergeConditions(old: readonly Json[], changes: readonly Json[]): Json[] {
  const merged = [...old];
  for (const change of changes) {
    const index = merged.findIndex(({ type }) => type === change["type"]);
    if (index < 0) merged.push(change);
    else merged[index] = { ...merged[index], ...change };
  }
  return merged;
}
