// Keys of a config map or secret as files: all of them under their names, or those that items name. Volumes and
// projections use them.

import type { KeyToPath } from "../../../shared/kubernetes/api/volume.js";
import { missingKey, withFacts } from "../../model/error-facts.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { VolumeError } from "../volume-error.js";

/** Default mode of the API for sources without defaultMode. */
export const DEFAULT_MODE = 0o644;

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

/** @throws VolumeError unless optional */
export function keyFiles({ data, items = [], defaultMode, optional, object, missing }: KeyFilesRequest): Payload {
  if (items.length === 0) return new Map([...data].map(([key, value]) => [key, { data: value, mode: defaultMode }]));
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of items) {
    const value = data.get(key);
    if (value !== undefined) files.set(path, { data: value, mode });
    else if (!optional) throw withFacts(new VolumeError(missing(key)), missingKey(key, object, data.keys()));
  }
  return files;
}
