// How users reach the pods of the API: in a cluster at once, on a node without one by requests.

import { kernel } from "../kernel/kernel.js";
import { namespaceOf, type PodShape } from "../plan/pod-shapes.js";
import { NODE_NAME, type Resources, type SimulatedApi } from "./api.js";
import type { OwnApiClient } from "./own-api-client.js";
import type { OwnApi } from "./own-api.js";

export interface PodClient {
  /** @param made gets the object's UID when it is there */
  create(shape: PodShape, made: (uid: string) => void): void;
  setImage(shape: PodShape, image: string): void;
  /** @param done the API has taken it */
  resize(shape: PodShape, resources: Resources, done: () => void): void;
  /** @param deleted the object is marked, or gone */
  remove(shape: PodShape, graceSeconds: number, deleted: () => void): void;
  /** @param name of a static pod */
  removeMirror(name: string, graceSeconds: number): void;
}

export class ClusterPods implements PodClient {
  constructor(private readonly api: SimulatedApi) {}

  create(shape: PodShape, made: (uid: string) => void): void {
    const metadata = { name: shape.name, namespace: namespaceOf(shape) };
    const stored = this.api.store.put("pods", { metadata, spec: { ...shape.spec, nodeName: NODE_NAME } });
    if (stored.metadata.uid !== undefined) made(stored.metadata.uid);
  }

  setImage(shape: PodShape, image: string): void {
    const stored = this.objectOf(shape);
    if (stored === undefined) return;
    const old = (stored.spec?.["containers"] ?? []) as Record<string, unknown>[];
    const containers = old.map((one, index) => (index === 0 ? { ...one, image } : one));
    const { name, namespace = "" } = stored.metadata;
    this.api.store.put("pods", { metadata: { name, namespace }, spec: { ...stored.spec, containers } });
  }

  resize(shape: PodShape, resources: Resources, done: () => void): void {
    if (this.objectOf(shape) === undefined) return;
    done();
    this.api.resizePod(shape.name, resources, namespaceOf(shape));
  }

  remove(shape: PodShape, graceSeconds: number, deleted: () => void): void {
    deleted();
    if (this.objectOf(shape) !== undefined) this.api.deletePod(shape.name, graceSeconds, namespaceOf(shape));
  }

  removeMirror(name: string, graceSeconds: number): void {
    this.api.deletePod(`${name}-${NODE_NAME}`, graceSeconds);
  }

  private objectOf(shape: PodShape) {
    return this.api.store.get("pods", namespaceOf(shape), shape.name);
  }
}

/** The path of the pods of a namespace. */
function podsAt(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

export class OwnPods implements PodClient {
  private readonly asked = new Map<string, () => void>();

  constructor(
    private readonly client: OwnApiClient,
    api: OwnApi,
  ) {
    api.onPod(({ type, object }) => {
      const { name, deletionTimestamp } = object.metadata;
      if (type === "DELETED" || deletionTimestamp !== undefined) this.deleted(name);
    });
  }

  create(shape: PodShape, made: (uid: string) => void): void {
    const { name, spec } = shape;
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
    this.client.ask(`pod ${name}`, { method: "POST", path: podsAt(namespaceOf(shape)), body }, (reply) => {
      const { uid } = (reply.body["metadata"] ?? {}) as { uid?: string };
      if (reply.status === 201 && uid !== undefined) made(uid);
    });
  }

  setImage(shape: PodShape, image: string): void {
    const [first] = shape.spec["containers"] as { name: string }[];
    const body = { spec: { containers: [{ name: first?.name, image }] } };
    this.client.ask(`pod ${shape.name}`, { method: "PATCH", path: this.pathOf(shape), body });
  }

  resize(shape: PodShape, resources: Resources, done: () => void): void {
    const containers = (shape.spec["containers"] as { name: string }[]).map(({ name }) => ({ name, resources }));
    const request = { method: "PATCH", path: `${this.pathOf(shape)}/resize`, body: { spec: { containers } } } as const;
    this.client.ask(`pod ${shape.name}`, request, ({ status }) => {
      if (status === 200) done();
    });
  }

  /** The object shows the deletion before its answer. */
  remove(shape: PodShape, gracePeriodSeconds: number, deleted: () => void): void {
    const { name } = shape;
    this.asked.set(name, deleted);
    const request = { method: "DELETE", path: this.pathOf(shape), body: { gracePeriodSeconds } } as const;
    this.client.ask(`pod ${name}`, request, () => this.deleted(name));
  }

  removeMirror(name: string, gracePeriodSeconds: number): void {
    const path = `${podsAt("default")}/${name}-${NODE_NAME}`;
    this.client.ask(`pod ${name}`, { method: "DELETE", path, body: { gracePeriodSeconds } });
  }

  private deleted(name: string): void {
    const tell = this.asked.get(name);
    this.asked.delete(name);
    if (tell !== undefined) kernel.as(kernel.world, tell);
  }

  private pathOf(shape: PodShape): string {
    return `${podsAt(namespaceOf(shape))}/${shape.name}`;
  }
}
