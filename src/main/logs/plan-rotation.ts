// Plans the rotation of container logs: which logs, when to check them, and which files to keep. Pure.
// Invariant: afterwards there are at most maxFiles files, the one being written included. Only the oldest files beyond maxFiles are lost.
import { COMPRESSED, logFileNames, nextStem, strayNames, UNFINISHED } from "../../shared/container-logs/file-names.js";
import { join } from "node:path";
import { ContainerState } from "../../shared/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { podLogDirectory } from "../model/paths.js";

export interface RotationPlan {
  /** Strays first, then files beyond the number allowed, oldest first. */
  remove: string[];
  /** The name that the file being written gets. */
  rotated: string;
}

/**
 * @param maxFiles containerLogMaxFiles, at least 2.
 * @param inWork Names of rotated files that are being compressed now: their unfinished output is no stray.
 */
export function planRotation(
  names: readonly string[],
  current: string,
  options: { maxFiles: number; now: Date; inWork: ReadonlySet<string> },
): RotationPlan {
  const { maxFiles, now, inWork } = options;
  const strays = strayNames(names, current).filter(
    (name) => !name.endsWith(UNFINISHED) || !inWork.has(name.slice(0, -UNFINISHED.length)),
  );
  const gone = new Set(strays);
  const rotated = logFileNames(
    names.filter((name) => !gone.has(name)),
    current,
  ).filter(({ stem }) => stem !== undefined);
  // One place is for the file about to be rotated, one for the new one.
  const excess = rotated.slice(0, Math.max(0, rotated.length - (maxFiles - 2)));
  const newest = rotated.at(-1)?.stem;
  return { remove: [...strays, ...excess.map(({ name }) => name)], rotated: `${current}.${nextStem(now, newest)}` };
}

/**
 * Rotated files to be compressed, oldest first: all plain ones but the newest. Followers may still read that one, and
 * the runtime may still write to it.
 */
export function filesToCompress(names: readonly string[], current: string): string[] {
  return logFileNames(names, current)
    .filter(({ stem }) => stem !== undefined)
    .slice(0, -1)
    .flatMap(({ name }) => (name.endsWith(COMPRESSED) ? [] : [name]));
}

// Computes when to check the size of a container's log. The check comes before the log can exceed its limit by much; for a log without
// writes it comes seldom. Pure.

/** Growth of a log between two checks. */
export interface Growth {
  size: number;
  /** Bytes since the last inspection. */
  grown: number;
  /** Milliseconds since the last inspection; 0 at the first one. */
  elapsedMs: number;
  /** The planned delay before this inspection. */
  waitedMs: number;
}

interface NextLook {
  afterMs: number;
  /** Nothing was written for a while: let the next write wake us. */
  asleep: boolean;
}

/** Minimum interval: at 100 MB/s that is 25 MB beyond the limit. */
export const SOONEST_MS = 250;
/** Maximum interval for a log that is being written, since its rate may jump. */
const ACTIVE_MS = 3000;

export function nextLook(growth: Growth, limits: { maxSize: number; monitorIntervalMs: number }): NextLook {
  const { size, grown, elapsedMs, waitedMs } = growth;
  const { maxSize, monitorIntervalMs } = limits;
  // A new log that is empty or has not grown since the first check. Most containers write few lines or none.
  const quietFromTheStart = waitedMs <= SOONEST_MS && (size === 0 || elapsedMs > 0);
  if (grown <= 0 && (elapsedMs >= ACTIVE_MS || quietFromTheStart)) return { afterMs: monitorIntervalMs, asleep: true };
  const longest = Math.min(ACTIVE_MS, monitorIntervalMs, Math.max(SOONEST_MS, waitedMs * 2));
  if (elapsedMs <= 0 || grown <= 0) return { afterMs: longest, asleep: false };
  const untilFull = ((maxSize - size) / grown) * elapsedMs;
  return { afterMs: Math.max(SOONEST_MS, Math.min(longest, untilFull)), asleep: false };
}

// Which logs rotation keeps an eye on: those of running containers, since the runtime reopens no others.

export interface RunningLog {
  containerId: string;
  /** The file being written. */
  path: string;
  uid: string;
  namespace: string;
  pod: string;
  container: string;
}

export function* runningLogs(pods: Iterable<ObservedPod>, podLogsDir: string): Generator<RunningLog> {
  for (const { uid, namespace, name, containers } of pods) {
    for (const { id, state, logPath, metadata } of containers) {
      if (state !== ContainerState.CONTAINER_RUNNING || logPath === "") continue;
      // Runtimes report the whole path, from the given directory and path.
      const path = logPath.startsWith("/")
        ? logPath
        : join(podLogDirectory(podLogsDir, { metadata: { uid, namespace, name } }), logPath);
      yield { containerId: id, path, uid, namespace, pod: name, container: metadata?.name ?? "" };
    }
  }
}
