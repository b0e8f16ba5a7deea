// An API server in memory for pods, their statuses and events. It has versions, preconditions, strategic merge patches
// of a status, and deletion with grace period 0. Calls are counted, can be held, and can be made to fail.

import { ApiConnectionError, ApiError } from "../../src/shared/kubernetes/api/client/errors.js";
import type {
  ApiClient,
  ApiObject,
  DeleteOptions,
  ObjectRef,
  ResourceKind,
} from "../../src/shared/kubernetes/api/client/port.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";

type Fields = Record<string, unknown>;
export type Change = { type: "ADDED" | "MODIFIED" | "DELETED"; object: Pod };

const KEYS: Readonly<Record<string, string>> = { conditions: "type", podIPs: "ip", hostIPs: "ip" };

export class MemoryApi {
  private readonly objects = new Map<string, ApiObject>();
  private version = 100;
  private created = 0;
  readonly calls: string[] = [];
  readonly patches: Fields[] = [];
  /** The error that a call gets; undefined: it goes through. */
  fail: (call: string) => Error | undefined = () => undefined;
  /** Calls wait for this before they are answered. */
  gate: Promise<void> = Promise.resolve();
  inFlight = 0;
  most = 0;
  /** Changes of pods, as a watch tells them. */
  onChange: (change: Change) => void = () => undefined;

  readonly client: Pick<ApiClient, "get" | "create" | "patch" | "delete"> = {
    get: (kind, ref) => this.call("get", kind, ref, () => this.find(kind, ref)),
    create: (kind, object) => {
      const ref = { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
      return this.call("create", kind, ref, () => {
        if (this.objects.has(keyOf(kind, ref))) throw new ApiError(409, "AlreadyExists", `${ref.name} already exists`);
        const metadata = { uid: `api-${++this.created}`, ...object.metadata };
        return this.store(kind, "ADDED", { ...object, metadata });
      });
    },
    patch: (kind, ref, body, options) =>
      this.call(options?.subresource === undefined ? "patch" : `patch ${options.subresource}`, kind, ref, () => {
        const { metadata, ...rest } = body as { metadata?: { uid?: string }; status?: Fields };
        const object = this.find(kind, ref);
        if (metadata?.uid !== undefined && metadata.uid !== object.metadata.uid) {
          throw new ApiError(409, "Conflict", "the UID in the precondition is another");
        }
        this.patches.push(structuredClone(rest));
        return this.store(kind, "MODIFIED", merge(object as unknown as Fields, rest) as unknown as typeof object);
      }),
    delete: (kind, ref, options) => this.call("delete", kind, ref, () => this.remove(kind, ref, options)),
  };

  pod(name: string, namespace = "default"): Pod | undefined {
    return this.objects.get(`pods ${namespace}/${name}`) as Pod | undefined;
  }

  pods(): Pod[] {
    return [...this.objects].flatMap(([key, object]) => (key.startsWith("pods ") ? [object as Pod] : []));
  }

  /** Another client writes the pod. */
  put(pod: Pod): Pod {
    const kind = { resource: "pods" };
    const known = this.pod(pod.metadata.name, pod.metadata.namespace);
    return this.store(kind, known === undefined ? "ADDED" : "MODIFIED", pod);
  }

  edit(name: string, change: (pod: Pod) => void): Pod {
    const pod = structuredClone(this.pod(name));
    if (pod === undefined) throw new Error(`no pod ${name}`);
    change(pod);
    return this.put(pod);
  }

  take(name: string): void {
    this.remove({ resource: "pods" }, { namespace: "default", name });
  }

  count(verb: string): number {
    return this.calls.filter((call) => call.startsWith(`${verb} `)).length;
  }

  private async call<R>(verb: string, kind: { resource: string }, ref: ObjectRef, act: () => R): Promise<R> {
    const call = `${verb} ${kind.resource} ${ref.namespace}/${ref.name}`;
    this.calls.push(call);
    this.most = Math.max(this.most, ++this.inFlight);
    try {
      await this.gate;
      const error = this.fail(call);
      if (error !== undefined) throw error;
      return structuredClone(act());
    } finally {
      this.inFlight--;
    }
  }

  private find<T extends ApiObject>(kind: ResourceKind<T>, ref: ObjectRef): T {
    const object = this.objects.get(keyOf(kind, ref));
    if (object === undefined) throw new ApiError(404, "NotFound", `${kind.resource} "${ref.name}" not found`);
    return object as T;
  }

  private store<T extends ApiObject>(kind: { resource: string }, type: "ADDED" | "MODIFIED", object: T): T {
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) };
    const stored = structuredClone({ ...object, metadata });
    const { namespace, name } = stored.metadata;
    this.objects.set(`${kind.resource} ${namespace}/${name}`, stored);
    if (kind.resource === "pods") this.onChange({ type, object: structuredClone(stored) as unknown as Pod });
    return stored;
  }

  private remove(kind: { resource: string }, ref: ObjectRef, options?: DeleteOptions): void {
    const key = `${kind.resource} ${ref.namespace}/${ref.name}`;
    const object = this.objects.get(key);
    if (object === undefined) throw new ApiError(404, "NotFound", `${ref.name} not found`);
    const uid = options?.preconditions?.uid;
    if (uid !== undefined && uid !== object.metadata.uid) throw new ApiError(409, "Conflict", "another UID");
    this.objects.delete(key);
    if (kind.resource !== "pods") return;
    const last = structuredClone(object) as Pod;
    last.metadata.resourceVersion = String(++this.version);
    this.onChange({ type: "DELETED", object: last });
  }
}

export const away = (): Error => new ApiConnectionError("the server does not respond");

function keyOf(kind: { resource: string }, ref: ObjectRef): string {
  return `${kind.resource} ${ref.namespace}/${ref.name}`;
}

function merge(base: Fields, patch: Fields): Fields {
  const merged = { ...base };
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith("$")) continue;
    const key = KEYS[name];
    if (value === null) merged[name] = undefined;
    else if (key !== undefined) {
      const order = patch[`$setElementOrder/${name}`] as Fields[] | undefined;
      merged[name] = mergeList((base[name] ?? []) as Fields[], value as Fields[], key, order ?? []);
    } else if (typeof value === "object" && !Array.isArray(value)) {
      merged[name] = merge((base[name] ?? {}) as Fields, value as Fields);
    } else merged[name] = value;
  }
  return JSON.parse(JSON.stringify(merged)) as Fields;
}

function mergeList(base: readonly Fields[], patch: readonly Fields[], key: string, order: readonly Fields[]): Fields[] {
  const elements = new Map(base.map((element) => [element[key], element]));
  for (const change of patch) {
    if (change["$patch"] === "delete") elements.delete(change[key]);
    else elements.set(change[key], merge(elements.get(change[key]) ?? {}, change));
  }
  const places = new Map(order.map((element, place) => [element[key], place]));
  const place = (element: Fields): number => places.get(element[key]) ?? places.size;
  return [...elements.values()].sort((a, b) => place(a) - place(b));
}
