// Gives a volume to its pod's fsGroup, by fsGroupChangePolicy. Invariant: the volume's own directory is changed last,
// so OnRootMismatch repeats an incomplete walk.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ChangeOwnershipJob, ChangeOwnershipResult } from "../../../shared/contracts/tasks.js";
import { belongsToGroup, withGroupBits } from "../../../shared/io/fs/group-mode.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { LocalName, RequestOf, ResultOf } from "../../../shared/node/volume-calls/operations.js";
import { perform } from "../../../shared/node/volume-calls/perform.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { measured } from "../measured.js";
import { type VolumeMetrics } from "../metrics.js";
import { VolumeError } from "../volume-error.js";

/** Interval of reports about a long change; upstream's value. */
const FIRST_REPORT_MS = 30_000;
const REPORT_MS = 60_000;
/** A job of the pool: half a second at most. */
const FILES_PER_JOB = 20_000;
const MS_PER_JOB = 500;
const ADVICE =
  "https://kubernetes.io/docs/tasks/configure-pod-container/security-context/" +
  "#configure-volume-permission-and-ownership-change-policy-for-pods";

export interface OwnershipDeps {
  /** Runs in a pool thread, when it is the pod's turn. */
  changeOwnership(job: ChangeOwnershipJob, uid: PodUid, signal: AbortSignal): Promise<ChangeOwnershipResult>;
  /** For volumes that may hang. */
  calls: VolumeCalls;
  events: EventRecorder;
  clock: Clock;
  metrics: VolumeMetrics;
}

export interface OwnershipRequest {
  pod: Pod;
  directory: string;
  /** As metrics have it. */
  plugin: string;
  /** The group may read only. */
  readOnly?: boolean;
  /** Ignores fsGroupChangePolicy: it does not apply to the kubelet's own files. */
  always?: boolean;
  /** A volume with a server, a driver or a network disk behind it. */
  mayHang?: boolean;
  signal: AbortSignal;
}

/** Nothing to do for a pod without fsGroup. @throws VolumeError, or the signal's reason */
export async function setOwnership(deps: OwnershipDeps, request: OwnershipRequest): Promise<void> {
  const { fsGroup } = request.pod.spec.securityContext ?? {};
  if (fsGroup === undefined) return;
  const doer = { plugin: request.plugin };
  await measured(deps, "volume_apply_access_control", doer, () => giveTo(deps, request, fsGroup));
}

async function giveTo(deps: OwnershipDeps, request: OwnershipRequest, fsGroup: number): Promise<void> {
  const { pod, directory, readOnly = false, always = false } = request;
  const { fsGroupChangePolicy = "Always" } = pod.spec.securityContext ?? {};
  const stats = await onVolume(deps, request, "stat", { path: directory });
  if (!always && fsGroupChangePolicy === "OnRootMismatch" && belongsToGroup(stats, fsGroup, readOnly)) return;
  if (!(await onVolume(deps, request, "isEmpty", { path: directory }))) await changeContent(deps, request, fsGroup);
  const mode = withGroupBits(stats, readOnly);
  await onVolume(deps, request, "give", { path: directory, uid: stats.uid, gid: fsGroup, mode });
}

async function changeContent(deps: OwnershipDeps, request: OwnershipRequest, group: number): Promise<void> {
  const { pod, directory, readOnly = false, signal } = request;
  const inHelper = request.mayHang === true && (await deps.calls.mayHang(directory));
  let files = 0;
  const report = (message: string): void =>
    deps.events.pod(pod, { type: "Warning", reason: "VolumePermissionChangeInProgress", message });
  let timer = deps.clock.after(FIRST_REPORT_MS, () => {
    report(
      `Setting volume ownership for ${directory} is taking longer than expected, consider using OnRootMismatch - ${ADVICE}`,
    );
    timer = deps.clock.every(REPORT_MS, () => {
      report(`Setting volume ownership for ${directory}, processed ${files} files.`);
    });
  });
  // A walk that hangs would keep its pool thread for ever.
  const walk = (job: ChangeOwnershipJob): Promise<ChangeOwnershipResult> =>
    inHelper
      ? deps.calls.callHelper("changeOwnership", job, directory, signal)
      : deps.changeOwnership(job, pod.metadata.uid, signal);
  try {
    let place: Uint8Array | undefined;
    do {
      signal.throwIfAborted();
      const bounds = { maxFiles: FILES_PER_JOB, maxMs: MS_PER_JOB };
      const job = omitUndefined<ChangeOwnershipJob>({ root: directory, group, readOnly, ...bounds, place });
      const result = await walk(job);
      if (result.error !== undefined)
        throw new VolumeError(`${result.error.path} cannot be given to fsGroup ${group}: ${result.error.message}`);
      files += result.files;
      place = result.place;
    } while (place !== undefined);
  } finally {
    timer.cancel();
  }
}

/** The kubelet's own volumes are on the node's disk or in memory. */
function onVolume<Name extends LocalName>(
  { calls }: OwnershipDeps,
  { directory, mayHang = false, signal }: OwnershipRequest,
  name: Name,
  request: RequestOf<Name>,
): Promise<ResultOf<Name>> {
  return mayHang ? calls.call(name, request, { paths: [directory] }, signal) : perform[name](request);
}
