// Keys of a config map or secret as files: all of them under their names, or those that items name. Volumes and
// projections use them.
import type { KeyToPath } from "../../../shared/api/volume.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { messageOf } from "../../../shared/errors/thrown.js";
import { isNotFound } from "../../../shared/api/client/errors.js";
import type { ConfigMap, Secret } from "../../../shared/api/objects.js";
import type { ReferencedObjects } from "../../model/cluster-access.js";
import { missingKey, withFacts } from "../../model/error-facts.js";

/** Default mode of the API for sources without defaultMode. */
export const DEFAULT_MODE = 0o644;

/** A key that items name is not in the object. */
class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
}

interface KeyFilesRequest {
  data: ReadonlyMap<string, PayloadFile["data"]>;
  items: readonly KeyToPath[] | undefined;
  defaultMode: number;
  optional: boolean;
  /** "ConfigMap namespace/name". */
  object: string;
  /** The message for a key that is not there. */
  missing: (key: string) => string;
}

/** @throws MissingKeyError unless optional */
function keyFiles({ data, items = [], defaultMode, optional, object, missing }: KeyFilesRequest): Payload {
  if (items.length === 0) return new Map([...data].map(([key, value]) => [key, { data: value, mode: defaultMode }]));
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of items) {
    const value = data.get(key);
    if (value !== undefined) files.set(path, { data: value, mode });
    else if (!optional) throw withFacts(new MissingKeyError(missing(key)), missingKey(key, object, data.keys()));
  }
  return files;
}

// Several problems of one volume in one message, in upstream's form: "[first, second]"; a repeated problem is listed
// once.

class VolumeContentError extends Error {
  override readonly name = "VolumeContentError";
  constructor(readonly problems: readonly unknown[]) {
    const texts = [...new Set(problems.map(messageOf))];
    super(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`, { cause: problems[0] });
  }
}

/** One problem is itself. */
export function together(problems: readonly unknown[]): Error {
  const [first] = problems;
  return problems.length === 1 && first instanceof Error ? first : new VolumeContentError(problems);
}

// The files of a config map or a secret, for their own volumes and for projections.

interface ObjectFilesRequest<T> {
  objects: ReferencedObjects<T>;
  namespace: string;
  name: string;
  items: readonly KeyToPath[] | undefined;
  defaultMode: number;
  optional: boolean;
  signal: AbortSignal;
}

/** Rejects as ReferencedObjects does, or with MissingKeyError; an optional one that is not there has no files. */
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
