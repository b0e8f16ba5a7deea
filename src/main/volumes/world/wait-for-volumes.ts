// Waits until all volumes of a pod are set up, and repeats failed operations. Invariant: every failure is an event of
// the pod. After two minutes the wait ends with an error that names the missing volumes. An operation that hangs
// continues by itself.

import { setMaxListeners } from "node:events";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { LoopShare } from "../../../shared/base/turns/loop-share.js";
import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { VolumeRefusedError, VolumeSetUpError, VolumeStepError, VolumesNotReadyError } from "../errors.js";
import { isDevicePlace, type VolumePlace } from "../place.js";
import type { OnPluginKnown, VolumeDoer } from "../plugin.js";
import type { ActualState } from "./actual-state.js";
import { volumeKey } from "./actual-state.js";
import type { WantedPod, WantedVolume } from "./desired-state.js";
import type { VolumeOperations } from "./operations.js";

/** Time for which one sync of a pod waits for its volumes; upstream's value. */
const WAIT_MS = 123_000;
/** Operations of one pod at a time: a pod of a megabyte has tens of thousands of volumes. */
export const VOLUMES_AT_ONCE = 64;

export interface VolumeWaitDeps {
  operations: VolumeOperations;
  actual: ActualState;
  events: EventRecorder;
  clock: Clock;
  /** Each operation begins in its turn. */
  loop: Pick<LoopShare, "turn">;
  /** One attempt, measured. */
  attempt<T>(doer: VolumeDoer | undefined, work: (onPluginKnown: OnPluginKnown) => Promise<T>): Promise<T>;
  /** A volume is there, as files, that was not before. */
  mounted(plugin: string, durationMs: number): void;
}

/** The pod's places by volume name. @throws VolumesNotReadyError, VolumeRefusedError, or the signal's reason */
export async function waitForVolumes(
  deps: VolumeWaitDeps,
  { pod, volumes }: WantedPod,
  signal: AbortSignal,
): Promise<Map<string, VolumePlace>> {
  const ready = new Map<string, VolumePlace>();
  const failures = new Map<string, unknown>();
  const wait = new AbortController();
  // One listener or two per operation, all removed at the end of the wait.
  setMaxListeners(0, wait.signal);
  const onAbort = (): void => wait.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = deps.clock.after(WAIT_MS, () => wait.abort(new Error("context deadline exceeded")));
  try {
    await mapAtMost(VOLUMES_AT_ONCE, volumes, async (wanted) => {
      await deps.loop.turn();
      const place = await untilSetUp(deps, pod, wanted, { pod: signal, wait: wait.signal }, failures);
      ready.set(wanted.volume.name, place);
    });
    return new Map(volumes.flatMap(({ volume: { name } }) => entryOf(ready, name)));
  } catch (error) {
    // Every failure but the end of the wait, and a refusal, is tried again.
    signal.throwIfAborted();
    const missing = volumes.map(({ volume }) => volume.name).filter((name) => !ready.has(name));
    if (error instanceof VolumeRefusedError) {
      wait.abort(error);
      throw error;
    }
    const [cause = error] = missing.map((name) => failures.get(name)).filter((failure) => failure !== undefined);
    throw emitNotReady(deps.events, pod, notReady(missing, [], "context deadline exceeded", cause));
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

/** Upstream's text. */
export function notReady(
  missing: readonly string[],
  notProcessed: readonly string[],
  problem: string,
  cause: unknown,
): VolumesNotReadyError {
  const list = (names: readonly string[]): string => `[${[...names].sort().join(" ")}]`;
  const message =
    `Unable to attach or mount volumes: unmounted volumes=${list(missing)}, unattached volumes=[], ` +
    `failed to process volumes=${list(notProcessed)}: ${problem}`;
  return new VolumesNotReadyError(message, missing, { cause });
}

/** Records the error as an event of the pod and returns it. */
export function emitNotReady(events: EventRecorder, pod: Pod, error: VolumesNotReadyError): VolumesNotReadyError {
  events.pod(pod, { type: "Warning", reason: "FailedMount", message: error.message });
  return error;
}

/** Upstream's text. */
export function emitSetUpFailed(events: EventRecorder, pod: Pod, volume: string, error: unknown): void {
  if (error instanceof VolumeStepError) {
    events.pod(pod, { type: "Warning", ...error.event });
    return;
  }
  const problem = error instanceof VolumeSetUpError ? error.problem : messageOf(error);
  const message = `MountVolume.SetUp failed for volume ${quote(volume)} : ${problem}`;
  events.pod(pod, { type: "Warning", reason: "FailedMount", message });
}

async function untilSetUp(
  deps: VolumeWaitDeps,
  pod: Pod,
  wanted: WantedVolume,
  signals: { pod: AbortSignal; wait: AbortSignal },
  failures: Map<string, unknown>,
): Promise<VolumePlace> {
  const { operations, actual, events, clock } = deps;
  const { volume, plugin } = wanted;
  const { uid } = pod.metadata;
  const startedAt = clock.monotonic();
  const work = async (): Promise<VolumePlace> => {
    const known = plugin.indirect === true ? undefined : { plugin: plugin.name };
    const place = await deps.attempt(known, (onPluginKnown) => {
      const setDoer: OnPluginKnown = (doer) => onPluginKnown((wanted.doer = doer));
      const retryNow = (): void => operations.retryNow(uid);
      return plugin.setUp({ pod, volume, signal: signals.pod, onPluginKnown: setDoer, retryNow });
    });
    const name = wanted.doer?.plugin ?? plugin.name;
    const isNew = actual.place(uid, volume.name) === undefined && !isDevicePlace(place);
    if (isNew) deps.mounted(name, clock.monotonic() - startedAt);
    actual.isAt({ uid, volume: volume.name, plugin: name, place });
    return place;
  };
  for (;;) {
    try {
      const attempt = operations.setUp(volumeKey(uid, volume.name), work, signals.wait);
      return await unlessAborted(attempt, signals.wait);
    } catch (error) {
      signals.wait.throwIfAborted();
      failures.set(volume.name, error);
      if (error instanceof VolumeRefusedError) throw error;
      emitSetUpFailed(events, pod, volume.name, error);
    }
  }
}

function entryOf(ready: ReadonlyMap<string, VolumePlace>, name: string): [string, VolumePlace][] {
  const place = ready.get(name);
  return place === undefined ? [] : [[name, place]];
}
