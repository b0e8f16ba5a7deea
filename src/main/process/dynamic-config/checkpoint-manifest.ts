// The table of contents of a checkpoint: which copy came from where. Copies are plain names inside the folder, so that
// a damaged manifest never makes the kubelet read elsewhere.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import { CheckpointGarbageError } from "./errors.js";
import { configMapReference } from "./meta.js";

export interface ManifestFile {
  readonly role: "config" | "drop-in";
  /** The operator's path of the file. */
  readonly path: string;
  /** Name of the copy beside the manifest. */
  readonly copy: string;
}

export interface Manifest {
  readonly version: 1;
  /** Name of the source it came from. */
  readonly source: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The config file, if any, and the drop-ins in merge order. */
  readonly files: readonly ManifestFile[];
  /** Where the config file came from; absent: from a file of the node. */
  readonly configMap?: ConfigMapReference;
}

/** Throws CheckpointGarbageError naming `folder`. */
export function decodeManifest(value: unknown, folder: string): Manifest {
  const found = value as Partial<Manifest> | null;
  const garbage = (why: string): CheckpointGarbageError => new CheckpointGarbageError(folder, `manifest: ${why}`);
  if (typeof found !== "object" || found === null) throw garbage("not an object");
  const { version, source, createdAt, files } = found;
  if (version !== 1) throw garbage(`version ${JSON.stringify(version)} is not known`);
  if (typeof source !== "string" || typeof createdAt !== "string") throw garbage("source or createdAt is missing");
  if (!Array.isArray(files) || !files.every(isManifestFile)) throw garbage("files is not a list of copies");
  if (files.filter(({ role }) => role === "config").length > 1) throw garbage("two config files");
  const { configMap } = found;
  return omitUndefined({
    version,
    source,
    createdAt,
    files,
    configMap: configMap !== undefined ? configMapReference(configMap) : undefined,
  });
}

function isManifestFile(value: unknown): value is ManifestFile {
  if (typeof value !== "object" || value === null) return false;
  const { role, path, copy } = value as Partial<ManifestFile>;
  const plain = typeof copy === "string" && copy !== "" && !copy.includes("/") && !copy.startsWith(".");
  return (role === "config" || role === "drop-in") && typeof path === "string" && plain;
}
