// A manifest's way through the tasks pool. Its deadline depends on its size. Any failure in the end is reported as a
// ManifestError, like any other fault of the manifest.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { noteWork } from "../../../shared/base/turns/large-work.js";
import type { DecodeManifestResult, ManifestOrigin } from "../../../shared/contracts/tasks.js";
import { ManifestError, type ManifestWarning } from "../../../shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { TaskDeadlineError, type TasksPool } from "../../threads/tasks-pool.js";
import { decodeDeadlineMs, decodeLimit } from "./decode-deadline.js";
import type { FormerUids } from "./former-uids.js";

/** As upstream: larger manifests are refused, from a file or from a URL. */
export const MANIFEST_LIMIT = 10 * 1024 * 1024;

export interface DecodeOptions {
  tasks: Pick<TasksPool, "run">;
  nodeName: string;
  preventAPIReferences: boolean;
  former: Pick<FormerUids, "keep">;
  signal: AbortSignal;
}

export interface Decoded {
  pods: Pod[];
  warnings: ManifestWarning[];
  error?: ManifestError;
  /** With an error: names of pods as the text has them, "namespace/name". */
  claims: string[];
  /** True when the fault may be the machine's (deadline, dead thread): worth another try later. */
  retry: boolean;
  /** True when the deadline was missed. */
  late?: true;
}

/** The URL as it may be logged. */
export function publicUrl(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password !== "") parsed.password = "xxxxx";
    return parsed.href;
  } catch {
    return url;
  }
}

function originName(origin: Exclude<ManifestOrigin, { kind: "submitted" }>): string {
  return origin.kind === "file" ? origin.path : publicUrl(origin.url);
}

/**
 * Rejects only with the signal's reason, or when the pool itself cannot run. `bytes` may be moved away.
 * `lateTries`: how often this manifest has missed its deadline.
 */
export async function decodeInPool(
  origin: Exclude<ManifestOrigin, { kind: "submitted" }>,
  bytes: Uint8Array,
  options: DecodeOptions,
  lateTries = 0,
): Promise<Decoded> {
  const { tasks, nodeName, preventAPIReferences, former, signal } = options;
  noteWork(bytes.byteLength);
  const deadlineMs = decodeDeadlineMs(bytes.byteLength, lateTries);
  let result: DecodeManifestResult;
  try {
    const job = { origin, text: bytes, nodeName, preventAPIReferences };
    result = await tasks.run("decodeManifest", job, { deadlineMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    const violation = decodeLimit(error, deadlineMs);
    if (violation === undefined) throw error;
    const fault = new ManifestError(originName(origin), [violation]);
    const decoded: Decoded = { pods: [], warnings: [], claims: [], retry: true, error: fault };
    return error instanceof TaskDeadlineError ? { ...decoded, late: true } : decoded;
  }
  const { pods, formerUids, warnings, error, claims = [] } = result;
  return omitUndefined({
    pods: await former.keep(pods, formerUids),
    warnings,
    claims,
    retry: false,
    error: error === undefined ? undefined : new ManifestError(originName(origin), error),
  });
}
