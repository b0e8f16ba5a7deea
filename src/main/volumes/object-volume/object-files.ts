// The files of a config map or a secret, for their own volumes and for projections.

import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import type { ConfigMap, Secret } from "../../../shared/kubernetes/api/objects.js";
import type { KeyToPath } from "../../../shared/kubernetes/api/volume.js";
import type { ReferencedObjects } from "../../model/cluster-access.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { keyFiles } from "./key-files.js";

interface ObjectFilesRequest<T> {
  objects: ReferencedObjects<T>;
  namespace: string;
  name: string;
  items: readonly KeyToPath[] | undefined;
  defaultMode: number;
  optional: boolean;
  signal: AbortSignal;
}

/** Rejects as ReferencedObjects does, or with VolumeError; an optional one that is not there has no files. */
export async function configMapFiles(request: ObjectFilesRequest<ConfigMap>): Promise<Payload> {
  const { data = {}, binaryData = {} } = (await found(request)) ?? {};
  const files = new Map<string, PayloadFile["data"]>(Object.entries(data));
  for (const [key, value] of Object.entries(binaryData)) {
    if (!files.has(key)) files.set(key, Buffer.from(value, "base64"));
  }
  const missing = (key: string): string => `configmap references non-existent config key: ${key}`;
  return keyFiles({ ...request, data: files, object: `ConfigMap ${request.namespace}/${request.name}`, missing });
}

/** As configMapFiles. */
export async function secretFiles(request: ObjectFilesRequest<Secret>): Promise<Payload> {
  const { data = {} } = (await found(request)) ?? {};
  const files = new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64")]));
  const missing = (key: string): string => `references non-existent secret key: ${key}`;
  return keyFiles({ ...request, data: files, object: `Secret ${request.namespace}/${request.name}`, missing });
}

async function found<T>({ objects, namespace, name, optional, signal }: ObjectFilesRequest<T>): Promise<T | undefined> {
  try {
    return await objects.get(namespace, name, signal);
  } catch (error) {
    if (optional && isNotFound(error)) return undefined;
    throw error;
  }
}
