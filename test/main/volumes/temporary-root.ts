// A root directory of the test's own, and pods with volumes; what a test leaves mounted is unmounted.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import type { EventInput, EventRecorder, ObjectEvents } from "../../../src/main/model/event-recorder.js";
import type { VolumePlace } from "../../../src/main/volumes/place.js";
import type { VolumeManagerOptions } from "../../../src/main/volumes/volume-manager-options.js";
import { createVolumeManager, type VolumeManager } from "../../../src/main/volumes/volume-manager.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ObjectReference } from "../../../src/shared/kubernetes/api/event.js";
import type { Pod, PodSpec, VolumeMount } from "../../../src/shared/kubernetes/api/pod.js";
import type { Volume } from "../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { changeOwnership } from "../../../src/workers/tasks/ownership/change-ownership.js";
import { mountsBelow } from "../../support/mounts.js";
import { noEvents, silentLog } from "../../support/silent.js";
import { noVolumeMetrics } from "../../support/silent.js";
import { volumeCalls } from "../../support/volume-calls.js";

export { mountsBelow };

export const isRoot = process.getuid?.() === 0;
export const NODE_MEMORY = 64n * 1024n ** 2n;

export async function temporaryRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(`${tmpdir()}/nodelet-volumes-`);
  t.after(async () => {
    for (const mountPoint of mountsBelow(root)) {
      try {
        // Lazy: a process that just forked elsewhere may still hold a file of it for a moment.
        execFileSync("umount", ["--lazy", mountPoint], { stdio: "pipe" });
      } catch (error) {
        // The test's pending work may have been faster; a test that fails here would leave its servers running.
        if (mountsBelow(root).includes(mountPoint)) throw error;
      }
    }
    // A driver's process that the test's end stops may still write.
    await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return root;
}

const noQuotas: VolumeManagerOptions["quotas"] = {
  assign: () => Promise.resolve(),
  adopt: () => Promise.resolve(),
  clear: () => Promise.resolve(),
};

/** Options of the managers in these tests; ownership changes in this very thread. */
export function options(rootDir: string): VolumeManagerOptions {
  return {
    rootDir,
    nodeName: "testnode",
    volumePluginDir: `${rootDir}/drivers`,
    nodeMemoryBytes: NODE_MEMORY,
    nodeAllocatable: () => ({ cpu: "4", memory: "8Gi" }),
    syncFrequencyMs: 60_000,
    clock: systemClock,
    log: silentLog,
    calls: volumeCalls(),
    events: noEvents,
    metrics: noVolumeMetrics,
    quotas: noQuotas,
    changeOwnership: (job) => Promise.resolve(changeOwnership(job)),
  };
}

export function manager(rootDir: string, more: Partial<VolumeManagerOptions> = {}): VolumeManager {
  return createVolumeManager({ ...options(rootDir), ...more });
}

/** Keeps the events of pods and claims. */
export function keptEvents(): EventRecorder &
  ObjectEvents & { readonly seen: EventInput[]; readonly ofObjects: [ObjectReference, EventInput][] } {
  const seen: EventInput[] = [];
  const ofObjects: [ObjectReference, EventInput][] = [];
  return {
    ...{ seen, ofObjects },
    pod: (_pod, event) => void seen.push(event),
    object: (about, event) => void ofObjects.push([about, event]),
    node: () => undefined,
  };
}

/** A pod whose one container mounts all the volumes. */
export function podWith(volumes: Volume[], spec: Partial<PodSpec> = {}, uid = "uid-1"): Pod {
  const volumeMounts: VolumeMount[] = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: podUid(uid) },
    spec: { containers: [{ name: "main", volumeMounts }], volumes, ...spec },
  };
}

/** The host path of a volume that was set up. */
export function hostPathOf(places: ReadonlyMap<string, VolumePlace>, volume: string): string {
  const place = places.get(volume);
  if (place === undefined || !("hostPath" in place)) throw new Error(`volume ${volume} has no host path`);
  return place.hostPath;
}

export const never = new AbortController().signal;
