// How users write objects other than pods: in a cluster at once, on a node without one by requests.

import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { SimulatedApi } from "./api.js";
import type { OwnApiClient } from "./own-api-client.js";

/** An object of the namespace "default". */
export interface WrittenObject {
  kind: "ConfigMap" | "Secret";
  name: string;
  type?: string;
  data: Readonly<Record<string, string>>;
}

const NAMESPACE = "default";

export interface ObjectClient {
  /** Makes the object, or replaces it. */
  put(object: WrittenObject): void;
  remove(kind: WrittenObject["kind"], name: string): void;
}

export class ClusterObjects implements ObjectClient {
  constructor(private readonly api: SimulatedApi) {}

  put({ kind, name, ...content }: WrittenObject): void {
    this.api.store.put(pluralOf(kind), { metadata: { name, namespace: NAMESPACE }, ...content });
  }

  remove(kind: WrittenObject["kind"], name: string): void {
    this.api.store.remove(pluralOf(kind), NAMESPACE, name);
  }
}

export class OwnObjects implements ObjectClient {
  constructor(private readonly client: OwnApiClient) {}

  put({ kind, name, ...content }: WrittenObject): void {
    const body = { apiVersion: "v1", kind, metadata: { name }, ...content } satisfies Partial<ApiObject>;
    const folder = folderOf(kind);
    this.client.ask(`${kind} ${name}`, { method: "PUT", path: `${folder}/${name}`, body }, ({ status }) => {
      if (status === 404) this.client.ask(`${kind} ${name}`, { method: "POST", path: folder, body });
    });
  }

  remove(kind: WrittenObject["kind"], name: string): void {
    this.client.ask(`${kind} ${name}`, { method: "DELETE", path: `${folderOf(kind)}/${name}` });
  }
}

function pluralOf(kind: WrittenObject["kind"]): "configmaps" | "secrets" {
  return kind === "ConfigMap" ? "configmaps" : "secrets";
}

function folderOf(kind: WrittenObject["kind"]): string {
  return `/api/v1/namespaces/${NAMESPACE}/${pluralOf(kind)}`;
}
