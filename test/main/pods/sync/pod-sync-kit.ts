// The whole sync path of main (PodSync) on the in-memory runtime. The inspector of the pleg worker replaces the pleg
// thread. Every collaborator that receives events of pods appends them to one list, in order.

import type { TestContext } from "node:test";
import type { PodSubscriber } from "../../../../src/main/model/pod-events.js";
import { noProbeResults } from "../../../../src/main/model/probe-results.js";
import type { Admission } from "../../../../src/main/pods/admission/node-admission.js";
import type { AdmissionVerdict } from "../../../../src/main/pods/admission/verdict.js";
import { ProbeKills } from "../../../../src/main/pods/probes/probe-kills.js";
import type { ClusterPods } from "../../../../src/main/pods/sync/cluster-pods.js";
import { PodState } from "../../../../src/main/pods/sync/pod-state.js";
import { PodSync } from "../../../../src/main/pods/sync/pod-sync.js";
import type { PodChange } from "../../../../src/main/pods/sync/sync-loop.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { RuntimeState } from "../../../../src/shared/contracts/pleg.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { perform } from "../../../../src/shared/node/volume-calls/perform.js";
import { PodInspector } from "../../../../src/workers/pleg/pod-inspector.js";
import { defaultResizeRules, noResizeCounters } from "../../../support/resize-kit.js";
import { until as untilWithin } from "../../../support/sources-kit.js";
import { runtimeOn, type RuntimeWorld } from "../../containers/runtime/runtime-kit.js";

const PATIENCE_MS = 60_000;

const RUNTIME: RuntimeState = {
  reachable: true,
  runtimeReady: true,
  networkReady: true,
  name: "fake",
  version: "1",
  events: false,
  message: "",
};

export interface SyncNode {
  state: PodState;
  sync: PodSync;
  world: RuntimeWorld;
  /** "LISTENER.METHOD: POD what", in order. */
  received: string[];
  /** What these listeners received, in order; consecutive repetitions once. */
  receivedBy: (...listeners: string[]) => string[];
  change: (kind: PodChange["kind"], pod: Pod) => void;
  until: (what: string, condition: () => boolean) => Promise<void>;
  phase: (uid: string) => string | undefined;
}

export interface SyncNodeOptions {
  verdict?: (pod: Pod) => AdmissionVerdict;
  cluster?: boolean;
}

export async function syncNode(t: TestContext, options: SyncNodeOptions = {}): Promise<SyncNode> {
  let stop = (): Promise<void> => Promise.resolve();
  // The first of the hooks. They run in the order of their registration, and the folder goes when nothing writes to it.
  t.after(() => stop());
  const world = await runtimeOn(t);
  const clock = systemClock;
  const runtime = { ...world.runtime, clock };
  const received: string[] = [];
  const hear = (line: string): void => void received.push(line);
  const inspector = new PodInspector({
    cri: world.client,
    clock,
    deadlineMs: PATIENCE_MS,
    concurrency: 4,
    outcome: {
      observed: (observed) => sync.loop.onPlegRecord({ kind: "pod", observed }),
      failed: (uid, generation, error) =>
        sync.loop.onPlegRecord({ kind: "inspect-failed", uid, generation, code: "UNKNOWN", message: String(error) }),
    },
  });
  const admission: Admission = {
    admit: (pod) => Promise.resolve(options.verdict?.(pod) ?? { admit: true }),
    release: (uid) => hear(`admission.release: ${uid}`),
  };
  const state = new PodState({
    rootDir: runtime.settings.rootDir,
    pleg: { inspect: ({ uid, generation, hints }) => inspector.request(uid, generation, hints) },
    clock,
    log: world.kept.log,
  });
  const sync: PodSync = new PodSync({
    state,
    runtime,
    calls: { call: (name, request) => perform[name](request) },
    pleg: {
      watch: ({ uid, watchDirs }) => hear(`pleg.watch: ${uid} ${watchDirs.length}`),
      unwatch: (uid) => hear(`pleg.unwatch: ${uid}`),
    },
    probes: {
      results: noProbeResults,
      kills: new ProbeKills(),
      podSynced: ({ metadata }, _observed, state) => hear(`probes.podSynced: ${metadata.uid} ${state}`),
      podRemoved: (uid) => hear(`probes.podRemoved: ${uid}`),
    },
    admission,
    clock,
    log: world.kept.log,
    gates: { containerRestartRules: true, restartAllContainers: true },
    backoff: { baseMs: 10, maxMs: 10 },
    publish: ({ set, removed }) => {
      for (const { metadata, status } of set) hear(`server.set: ${metadata.uid} ${status?.phase ?? ""}`);
      for (const uid of removed) hear(`server.removed: ${uid}`);
    },
    resourceHealth: undefined,
    stamp: () => undefined,
    setOp: () => undefined,
    syncFrequencyMs: 60_000,
    resize: { counters: noResizeCounters, rules: defaultResizeRules },
  });
  state.events.subscribe(
    "cgroups",
    Object.fromEntries(
      (["admitted", "resized", "terminated", "removed"] as const).map((kind) => [
        kind,
        () => hear("cgroups.podsChanged"),
      ]),
    ),
  );
  state.events.subscribe("timelines", {
    accepted: ({ pod, known }) => hear(`watch.accepted: ${pod.metadata.uid} ${known ? "known" : "new"}`),
    synced: ({ pod }) => hear(`watch.seen: ${pod.metadata.uid}`),
    statusChanged: ({ pod, status }) => hear(`watch.status: ${pod.metadata.uid} ${status.phase}`),
    started: ({ pod }) => hear(`watch.running: ${pod.metadata.uid}`),
    orphanFound: () => hear("watch.orphan"),
    restarted: ({ pod }) => hear(`watch.again: ${pod.metadata.uid}`),
    removed: ({ uid }) => hear(`watch.gone: ${uid}`),
  });
  await state.load();
  sync.start();
  state.subscribe("eviction", evictionOf(hear));
  if (options.cluster === true) sync.join(clusterOf(hear));
  inspector.onRelisted();
  sync.loop.onPlegRecord({ kind: "runtime", state: RUNTIME });
  sync.loop.onPlegRecord({ kind: "relisted", uids: [], durationMs: 1 });
  sync.loop.onSourcesSeen();
  stop = () => sync.stop();
  const receivedBy = (...listeners: string[]): string[] =>
    received
      .filter((line) => listeners.some((listener) => line.startsWith(`${listener}.`)))
      .filter((line, index, lines) => line !== lines[index - 1]);
  return {
    ...{ state, sync, world, received, receivedBy },
    change: (kind, pod) => sync.loop.onPodChange({ kind, pod }),
    until: (what, condition) => untilWithin(what, condition, PATIENCE_MS),
    phase: (uid) => sync.statuses.get(podUid(uid))?.status?.phase,
  };
}

export const NO_HELD_PODS: ClusterPods["heldPods"] = { get: () => undefined, all: () => [] };

function clusterOf(hear: (line: string) => void): ClusterPods {
  return {
    statusOf: () => undefined,
    heldPods: NO_HELD_PODS,
    waits: () => false,
    subscriber: {
      accepted: ({ pod }) => hear(`cluster.desired: ${pod.metadata.uid}`),
      statusComputed: ({ pod, status }) => hear(`cluster.status: ${pod.metadata.uid} ${status.phase}`),
      removed: ({ uid }) => hear(`cluster.gone: ${uid}`),
      staticsKnown: () => hear("cluster.staticsKnown"),
    },
  };
}

function evictionOf(hear: (line: string) => void): PodSubscriber {
  const runs = ({ pod }: { pod: Pod }): void => hear(`follower.runs: ${pod.metadata.uid}`);
  const over = ({ uid }: { uid: string }): void => hear(`follower.over: ${uid}`);
  return { admitted: runs, updated: runs, resized: runs, cleanedUp: over, removed: over };
}
