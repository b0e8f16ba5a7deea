// Paths that other programs rely on: container logs, and the layout of the kubelet's root directory. `kubectl logs` and
// log collectors find container logs by name alone. They never change.

import { join } from "node:path";
import type { ObjectMeta } from "../../shared/kubernetes/api/meta.js";
import { pathElement } from "../../shared/kubernetes/api/path-element.js";
import { isSafePodUid } from "../../shared/kubernetes/api/pod-uid.js";
import type { ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../shared/kubernetes/identifiers.js";
import { annotationKeys } from "./labels.js";

type PodName = { metadata: Pick<ObjectMeta, "name" | "namespace" | "uid"> };
const MAX_FILE_NAME = 255;

/** PODLOGSDIR/NAMESPACE_NAME_UID. */
export function podLogDirectory(podLogsDir: string, pod: PodName): string {
  const { name, namespace, uid } = pod.metadata;
  return join(podLogsDir, `${namespace}_${name}_${uid}`);
}

const LOG_DIRECTORY = /^([a-z0-9-]+)_([a-z0-9.-]+)_(.+)$/;

/** The pod of a name that podLogDirectory has made; undefined for other names. Only a UID may hold "_". */
export function podOfLogDirectory(name: string): { namespace: string; name: string; uid: PodUid } | undefined {
  const [, namespace = "", podName = "", uid = ""] = LOG_DIRECTORY.exec(name) ?? [];
  return isSafePodUid(uid) ? { namespace, name: podName, uid } : undefined;
}

/** Path of one run's log below the pod's log directory: NAME/RESTARTCOUNT.log. */
export function containerLogPath(containerName: string, restartCount: number): string {
  return join(pathElement(containerName), `${restartCount}.log`);
}

/** File name of the link in /var/log/containers, cut so that it fits a file system's 255 bytes with its suffix. */
export function logSymlinkName(pod: PodName, containerName: string, containerId: ContainerId): string {
  const stem = `${pod.metadata.name}_${pod.metadata.namespace}_${containerName}-${containerId}`;
  return `${stem.slice(0, MAX_FILE_NAME - ".log".length)}.log`;
}

/**
 * Restart count of the container about to be created: the newest one's plus 1; if the runtime knows no container, the
 * highest N of the N.log* files in the container's log directory plus 1; so no old log is overwritten; else 0.
 */
export function nextRestartCount(newest: ObservedContainer | undefined, logFileNames: readonly string[]): number {
  if (newest !== undefined) return restartCountOf(newest) + 1;
  const counts = logFileNames.flatMap((name) => {
    const digits = /^(\d+)\.log/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
  return counts.reduce((highest, count) => Math.max(highest, count), -1) + 1;
}

/**
 * Restart count written on a container: from the annotation, which outlives the kubelet; the attempt number when it is
 * lost.
 */
export function restartCountOf(status: ObservedContainer): number {
  const text = status.annotations[annotationKeys.restartCount];
  const count = text === undefined ? NaN : Number(text);
  return Number.isInteger(count) && count >= 0 ? count : (status.metadata?.attempt ?? 0);
}
