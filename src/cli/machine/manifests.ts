// Reads the manifests of static pods as the kubelet does, with the kubelet's own reader in a thread: a file that needs
// too much time or memory ends its thread and not the command.

import { basename } from "node:path";
import { Scope } from "../../shared/base/abort/scope.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { DecodeManifestJob, DecodeManifestResult } from "../../shared/contracts/tasks.js";
import type { ManifestViolation, ManifestWarning } from "../../shared/kubernetes/api/manifest/violation.js";
import { entriesOf, readThrough, type Entry } from "./files.js";
import type { KubeletConfig } from "./kubelet-config.js";
import type { ToolOptions } from "./tool.js";

export interface ReadManifest {
  path: string;
  /** "namespace/name" of its pods. */
  pods: readonly string[];
  warnings: readonly ManifestWarning[];
  /** Why the kubelet refuses it; empty: it does not. */
  violations: readonly ManifestViolation[];
}

export interface ReadManifests {
  files: ReadManifest[];
  /** Files beyond the limit, which were not read. */
  left: number;
}

type Decode = (path: string, text: string) => Promise<DecodeManifestResult>;

const MAX_FILES = 250;
/** As the kubelet. */
const MANIFEST_BYTES = 10 * 1024 * 1024;
const DECODE_MS = 10_000;
const HEAP_MIB = 256;

/** Rejects if the folder does not respond. */
export async function readManifests(config: KubeletConfig, options: ToolOptions): Promise<ReadManifests> {
  const { staticPodPath } = config;
  const entries = (await entriesOf(staticPodPath, options)).filter(
    ({ path }) => path === staticPodPath || !basename(path).startsWith("."),
  );
  if (entries.length === 0) return { files: [], left: 0 };
  const { Piscina } = await import("piscina");
  const pool = new Piscina({
    filename: new URL("../../workers/tasks/index.js", import.meta.url).href,
    maxThreads: 1,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  // The job reports the death of its thread as well.
  pool.on("error", () => undefined);
  const { nodeName, preventAPIReferences } = config;
  const decode: Decode = async (path, text) => {
    const late = new Error(`it was not readable within ${DECODE_MS / 1000} s`);
    using limit = new Scope(options.signal).limit(options.clock, DECODE_MS, () => late);
    const job: DecodeManifestJob = { origin: { kind: "file", path }, text, nodeName, preventAPIReferences };
    try {
      return (await pool.run(job, { name: "decodeManifest", signal: limit.signal })) as DecodeManifestResult;
    } catch (error) {
      throw limit.signal.aborted ? late : error;
    }
  };
  try {
    const files: ReadManifest[] = [];
    for (const entry of entries.slice(0, MAX_FILES)) files.push(await readManifest(entry, decode, options));
    return { files, left: Math.max(0, entries.length - MAX_FILES) };
  } finally {
    await pool.destroy();
  }
}

async function readManifest({ path, type }: Entry, decode: Decode, options: ToolOptions): Promise<ReadManifest> {
  const refused = (allowed: string): ReadManifest => ({
    path,
    pods: [],
    warnings: [],
    violations: [{ field: "", reason: "limit", allowed, line: 0, column: 0 }],
  });
  if (type !== "f") return refused("a manifest must be a regular file");
  try {
    const { text, cut } = await readThrough(path, { ...options, bytes: MANIFEST_BYTES });
    if (cut) return refused(`at most ${MANIFEST_BYTES / 1024 / 1024} MiB`);
    const { pods, warnings, error = [] } = await decode(path, text);
    const names = pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    return { path, pods: names, warnings, violations: error };
  } catch (error) {
    return refused(`it must be readable: ${messageOf(error)}`);
  }
}

/** Files with a pod that an earlier file has, too: the kubelet runs one of them. */
export function sharedNames(files: readonly ReadManifest[]): { pod: string; path: string; first: string }[] {
  const firsts = new Map<string, string>();
  return files.flatMap(({ path, pods }) =>
    pods.flatMap((pod) => {
      const first = firsts.get(pod);
      if (first === undefined) firsts.set(pod, path);
      return first === undefined || first === path ? [] : [{ pod, path, first }];
    }),
  );
}
