// The probes on main: sends the prober thread its probes, stores their results, and reports changes.
// Invariant: results are those of running containers or of ones the runtime still has; a record of an outdated
// probe is dropped and counted; readiness never comes back while the pod is being terminated.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { ProbedPod, ProbeRecord, ProbeSpec, ProbeKind } from "../../../shared/contracts/prober.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { EventRecorder, EventInput } from "../../model/event-recorder.js";
import type { ProbedPodState } from "../../model/probe-port.js";
import type { ProberPort } from "../../model/prober-port.js";
import type { ProbeCheckpoint } from "./checkpoint.js";
import type { ProbeKills } from "./probe-kills.js";
import type { Verdicts } from "./verdicts.js";
import { probedContainers, wantedProbes } from "./wanted-probes.js";

export interface ProbeManagerDeps {
  results: Verdicts;
  kills: ProbeKills;
  checkpoint: Pick<ProbeCheckpoint, "load" | "save" | "flush">;
  /** Results of an earlier kubelet do not count. */
  forgetsResults: boolean;
  prober: ProberPort;
  events: EventRecorder;
  nodeIPs: () => readonly string[];
  clock: Pick<Clock, "after">;
  /** A record of a probe whose definition has changed since. */
  onStale(): void;
}

interface Watched {
  pod: Pod;
  observed: ObservedPod;
  state: ProbedPodState;
  /** By container id and kind. */
  probes: Map<string, { spec: ProbeSpec; text: string }>;
}

/** Probe results without a known pod for this time after the start belong to removed pods. */
const UNCLAIMED_MS = 10 * 60_000;

export class ProbeManager {
  private readonly pods = new Map<PodUid, Watched>();
  private generation = 0;
  private unclaimed: Timer | undefined;

  constructor(private readonly deps: ProbeManagerDeps) {}

  get results(): Verdicts {
    return this.deps.results;
  }

  get kills(): Pick<ProbeKills, "of"> {
    return this.deps.kills;
  }

  /** Reads the results of the previous kubelet process; must end before any pod is synced. */
  async load(): Promise<void> {
    if (!this.deps.forgetsResults) await this.deps.checkpoint.load();
    this.unclaimed = this.deps.clock.after(UNCLAIMED_MS, () => this.dropUnclaimed()).unref();
  }

  async stop(): Promise<void> {
    this.unclaimed?.cancel();
    await this.deps.checkpoint.flush();
  }

  /**
   * The pod was observed: its running containers are probed from now on, others not any more. Cheap if nothing changed.
   */
  podSynced(pod: Pod, observed: ObservedPod, state: ProbedPodState): void {
    const { uid } = pod.metadata;
    const known = this.pods.get(uid);
    if (known?.pod === pod && known.observed === observed && known.state === state) return;
    if (known === undefined && probedContainers(pod).length === 0) return;
    const watched: Watched = { pod, observed, state, probes: known?.probes ?? new Map<string, never>() };
    this.pods.set(uid, watched);
    const { results, checkpoint } = this.deps;
    if (results.keepOnly(uid, new Set(observed.containers.map(({ id }) => id)))) checkpoint.save();
    this.update(watched);
  }

  podRemoved(uid: PodUid): void {
    const { prober } = this.deps;
    this.forget(uid);
    if (this.pods.delete(uid)) prober.podRemoved(uid);
  }

  /** Every pod with probes, for a prober thread that has just started. */
  probedPods(): ProbedPod[] {
    return [...this.pods.values()].map((watched) => this.setOf(watched)).filter(({ probes }) => probes.length > 0);
  }

  /** Takes a record of the prober thread. @returns the pod of which a result changed; undefined: none did */
  onRecord(record: ProbeRecord): PodUid | undefined {
    const { results, kills, checkpoint, events } = this.deps;
    const { uid, containerId, kind, verdict } = record;
    const watched = this.pods.get(uid);
    const probe = watched?.probes.get(keyOf(record));
    if (watched === undefined || probe?.spec.generation !== record.generation) {
      this.deps.onStale();
      return undefined;
    }
    const event = probeEvent(record, probe.spec.container);
    if (event !== undefined) events.pod(watched.pod, event);
    if (kills.onRecord(record, probe.spec.container)) checkpoint.save();
    if (verdict === undefined || results.get(containerId, kind) === verdict) return undefined;
    // A pod that leaves takes no new work.
    if (watched.state === "terminating" && kind === "readiness" && verdict === "Success") return undefined;
    results.set(uid, containerId, kind, verdict);
    checkpoint.save();
    this.update(watched);
    return uid;
  }

  /** Sends the pod's set if it is another one than before. */
  private update(watched: Watched): void {
    const { results, nodeIPs, prober } = this.deps;
    const before = watched.probes;
    const after: Watched["probes"] = new Map();
    let changed = false;
    for (const wanted of wantedProbes({ ...watched, results, nodeIPs: nodeIPs() })) {
      const text = JSON.stringify(wanted);
      const known = before.get(keyOf(wanted));
      const same = known?.text === text;
      if (!same) changed = true;
      after.set(keyOf(wanted), same ? known : { spec: { ...wanted, generation: ++this.generation }, text });
    }
    watched.probes = after;
    if (changed || after.size !== before.size) prober.setPod(this.setOf(watched));
  }

  private setOf({ pod, probes }: Watched): ProbedPod {
    const { uid, namespace, name } = pod.metadata;
    return { uid, namespace, name, probes: [...probes.values()].map(({ spec }) => this.withVerdict(spec)) };
  }

  private withVerdict(spec: ProbeSpec): ProbeSpec {
    const verdict = this.deps.results.get(spec.containerId, spec.kind);
    return verdict === undefined ? spec : { ...spec, verdict };
  }

  private dropUnclaimed(): void {
    const { results, kills } = this.deps;
    const uids = new Set([...results.uids(), ...kills.uids()]);
    for (const uid of uids) if (!this.pods.has(uid)) this.forget(uid);
  }

  private forget(uid: PodUid): void {
    const { results, kills, checkpoint } = this.deps;
    const [hadResults, hadKills] = [results.keepOnly(uid, new Set()), kills.forget(uid)];
    if (hadResults || hadKills) checkpoint.save();
  }
}

function keyOf({ containerId, kind }: Pick<ProbeSpec, "containerId" | "kind">): string {
  return `${containerId}/${kind}`;
}

// The event of a run that did not succeed, with upstream's text.
const KINDS: Readonly<Record<ProbeKind, string>> = {
  startup: "Startup",
  liveness: "Liveness",
  readiness: "Readiness",
};

function probeEvent(record: ProbeRecord, container: string): EventInput | undefined {
  const kind = KINDS[record.kind];
  switch (record.outcome) {
    case "success":
      return undefined;
    case "warning":
      return warning("ProbeWarning", `${kind} probe warning: ${record.output}`, container);
    case "failure":
      return warning("Unhealthy", `${kind} probe failed: ${record.output}`, container);
    case "error":
      return warning("Unhealthy", `${kind} probe errored and resulted in unknown state: ${record.output}`, container);
  }
}

function warning(reason: EventReason, message: string, container: string): EventInput {
  return { type: "Warning", reason, message, container };
}
