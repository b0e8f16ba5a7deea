// Keys of a config map or secret as files: all of them under their names, or those that items ask for.
import type { KeyToPath } from "../../../shared/api/volume.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { messageOf } from "../../../shared/errors/thrown.js";

/** Default mode of the API for sources without defaultMode. */
export const DEFAULT_MODE = 0o644;

/** A key that items ask for is not in the object. */
class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
}

export interface KeyFilesRequest {
  data: ReadonlyMap<string, PayloadFile["data"]>;
  items: readonly KeyToPath[] | undefined;
  defaultMode: number;
  optional: boolean;
  /** The message for a key that is not there. */
  missing: (key: string) => string;
}

/** @throws MissingKeyError unless optional */
export function keyFiles({ data, items = [], defaultMode, optional, missing }: KeyFilesRequest): Payload {
  if (items.length === 0) return new Map([...data].map(([key, value]) => [key, { data: value, mode: defaultMode }]));
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of items) {
    const value = data.get(key);
    if (value !== undefined) files.set(path, { data: value, mode });
    else if (!optional) throw new MissingKeyError(missing(key));
  }
  return files;
}

// Several problems of one volume in one message, in upstream's form: "[first, second]"; a repeated problem is listed
// once.

class VolumeContentError extends Error {
  override readonly name = "VolumeContentError";
  constructor(readonly problems: readonly unknown[]) {
    const texts = [...new Set(problems.map(messageOf))];
    super(texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`);
  }
}

/** One problem is itself. */
export function together(problems: readonly unknown[]): Error {
  const [first] = problems;
  return problems.length === 1 && first instanceof Error ? first : new VolumeContentError(problems);
}
