// The prober's schedule: every probe at its own pace from its container's start on, independent of the others.
//
//   scheduled ──due──► running ──► scheduled …    until a verdict that holds (startup: any, liveness: Failure),
//                                                 or until main no longer has the probe in the pod's set
//
// Invariant: due times are multiples of the period from the first one on, so nothing drifts; two runs of one probe
// never overlap (the due one is skipped and counted); a run begins late rather than count as failed; what main took
// back is called off and says nothing any more; a pod whose probes sleep makes only its own probes late.

import type { Clock } from "../../base/clock/clock.js";
import { goDuration } from "../../base/clock/go-duration.js";
import { type MonotonicTime, later } from "../../base/clock/moments.js";
import { messageOf } from "../../base/errors/thrown.js";
import { omitUndefined } from "../../base/objects/omit-undefined.js";
import type { QueueWriter } from "../../base/queue/queue-writer.js";
import { FairTurns, type Turn } from "../../base/turns/fair-turns.js";
import { forEachIsolated } from "../../base/turns/for-each-isolated.js";
import type {
  ProbedPod,
  ProbeKind,
  ProbeOutcome,
  ProbeRecord,
  ProbeSpec,
  ProbesDelta,
} from "../../contracts/prober.js";
import type { PodUid } from "../../kubernetes/identifiers.js";
import type { Logger } from "../../telemetry/log/logger.js";
import type { ProbeMetrics, ScheduleMetrics } from "./metrics.js";
import { ProbeDeadline, type Milestone } from "./probe-deadline.js";
import {
  boundedText,
  ImpossibleProbeError,
  RUNTIME_PATIENCE_MS,
  type RunAction,
  type RunContext,
  type RunResult,
} from "./run.js";
import { StallMeter } from "./stall-meter.js";
import { newTally, tallyRun, type Tally } from "./thresholds.js";
import { TimerWheel } from "./timer-wheel.js";

export interface ProberDeps {
  clock: Clock;
  log: Logger;
  userAgent: string;
  runAction: RunAction;
  records: Pick<QueueWriter<ProbeRecord>, "push">;
  probes: ProbeMetrics;
  schedule: ScheduleMetrics;
  /** 0 ≤ x < 1. */
  random(): number;
}

/** Commands that begin at once: each costs the runtime a process, and a node has few processors. */
const EXEC_TURNS = { limit: 16, share: 8 };
/** Connections that begin at once. */
const SOCKET_TURNS = { limit: 256, share: 64 };
/**
 * A run that takes longer mostly sleeps. From then on it counts for its pod's share only, and another pod gets its
 * turn.
 */
const LONG_RUN_MS = 500;
/** A probe that waits for so long is reported to the pod's owner. */
const WAIT_REPORT_MS = 10_000;
/** A run that ends in an error is tried again at once, so often in all. */
const TRIES = 3;
/** New probes that are due together are spread over this, ms, or a tenth of their period. */
const JITTER_MS = 100;

interface Probe {
  readonly pod: Pick<ProbedPod, "uid" | "namespace" | "name">;
  readonly spec: ProbeSpec;
  readonly calledOff: AbortController;
  tally: Tally;
  running: boolean;
}

export class Prober {
  /** By pod, then by container id and kind. */
  private readonly pods = new Map<PodUid, Map<string, Probe>>();
  private readonly wheel: TimerWheel<Probe>;
  private readonly stalls: StallMeter;
  private readonly execs = new FairTurns(EXEC_TURNS);
  private readonly sockets = new FairTurns(SOCKET_TURNS);
  private readonly runs = new Set<Promise<void>>();

  constructor(private readonly deps: ProberDeps) {
    const { clock, schedule } = deps;
    this.wheel = new TimerWheel(clock, (probe, due) => this.onDue(probe, due));
    this.stalls = new StallMeter(clock);
    schedule.watchScheduled(() => this.wheel.size);
  }

  setPods(pods: readonly ProbedPod[]): void {
    const wanted = new Set(pods.map(({ uid }) => uid));
    for (const uid of [...this.pods.keys()]) if (!wanted.has(uid)) this.forget(uid);
    this.setEach(pods);
  }

  apply({ set, gone }: ProbesDelta): void {
    this.setEach(set);
    for (const uid of gone) {
      this.forget(uid);
      this.deps.probes.forget(uid);
    }
  }

  /** Resolves when no run is left. */
  async stop(): Promise<void> {
    for (const uid of [...this.pods.keys()]) this.forget(uid);
    this.wheel.clear();
    await Promise.all(this.runs);
  }

  private setEach(pods: readonly ProbedPod[]): void {
    forEachIsolated(
      pods,
      (pod) => this.setPod(pod),
      (error, { uid }) =>
        this.deps.log.error({ uid, err: error }, `probes of pod ${uid} do not run: ${messageOf(error)}`),
    );
  }

  private setPod({ probes, ...pod }: ProbedPod): void {
    const before = this.pods.get(pod.uid) ?? new Map<string, Probe>();
    const after = new Map<string, Probe>();
    for (const spec of probes) {
      const key = `${spec.containerId}/${spec.kind}`;
      const known = before.get(key);
      const kept = known?.spec.generation === spec.generation;
      after.set(key, kept ? known : this.add(pod, spec));
      if (kept) before.delete(key);
    }
    for (const probe of before.values()) this.callOff(probe);
    if (after.size === 0) this.pods.delete(pod.uid);
    else this.pods.set(pod.uid, after);
  }

  private forget(uid: PodUid): void {
    for (const probe of this.pods.get(uid)?.values() ?? []) this.callOff(probe);
    this.pods.delete(uid);
  }

  private callOff(probe: Probe): void {
    this.wheel.delete(probe);
    probe.calledOff.abort(new Error("the probe is no longer wanted"));
  }

  private add(pod: Probe["pod"], spec: ProbeSpec): Probe {
    const probe: Probe = { pod, spec, calledOff: new AbortController(), tally: newTally(spec.verdict), running: false };
    this.wheel.set(probe, this.firstDue(spec));
    return probe;
  }

  /** After a restart, all probes with a verdict may continue at once. So their first runs spread over a period. */
  private firstDue({ startedAt, initialDelayMs, periodMs, verdict }: ProbeSpec): MonotonicTime {
    const { clock } = this.deps;
    const ranForMs = Math.max(0, clock.now() - startedAt);
    const spreadMs = verdict === undefined ? Math.min(JITTER_MS, periodMs / 10) : periodMs;
    return later(clock.monotonic(), Math.max(0, initialDelayMs - ranForMs) + this.deps.random() * spreadMs);
  }

  private onDue(probe: Probe, due: MonotonicTime): void {
    const { clock, schedule } = this.deps;
    const { periodMs } = probe.spec;
    const missed = Math.max(0, Math.floor((clock.monotonic() - due) / periodMs));
    schedule.skipped("held-up", missed);
    this.wheel.set(probe, later(due, (missed + 1) * periodMs));
    if (probe.running) {
      schedule.skipped("overrun", 1);
      return;
    }
    probe.running = true;
    const run = this.run(probe, due).catch((error: unknown) => {
      this.deps.log.error(
        { err: error, uid: probe.pod.uid, container: probe.spec.container },
        "a probe failed unexpectedly",
      );
    });
    this.runs.add(run);
    void run.then(() => {
      probe.running = false;
      this.runs.delete(run);
    });
  }

  private async run(probe: Probe, due: MonotonicTime): Promise<void> {
    const { clock, schedule } = this.deps;
    const { signal } = probe.calledOff;
    let turn = this.turnsOf(probe).tryAcquire(probe.pod.uid);
    try {
      turn ??= await this.turnOf(probe, due);
    } catch {
      return; // called off while it waited
    }
    const startedAt = clock.monotonic();
    const lateMs = Math.max(0, startedAt - due);
    schedule.began(lateMs);
    let result: RunResult;
    try {
      result = await this.attempts(probe, turn);
    } finally {
      turn.release();
    }
    if (signal.aborted) return;
    this.conclude(probe, result, { lateMs, tookMs: clock.monotonic() - startedAt });
  }

  private turnsOf({ spec }: Probe): FairTurns {
    return spec.action.type === "exec" ? this.execs : this.sockets;
  }

  /** A probe that waits long reports it, and waits on. Rejects when it is stopped. */
  private async turnOf(probe: Probe, due: MonotonicTime): Promise<Turn> {
    const { clock } = this.deps;
    const turns = this.turnsOf(probe);
    const owner = probe.pod.uid;
    const report = clock.after(WAIT_REPORT_MS, () => {
      const what = turns === this.execs ? "exec probes" : "probes over the network";
      const why = turns.hasWholeShare(owner)
        ? `${turns.heldBy(owner)} other ${what} of this pod are still running`
        : `the node runs as many ${what} as it can`;
      const lateMs = clock.monotonic() - due;
      const output = `the probe has waited ${goDuration(Math.floor(lateMs))} for its turn: ${why}`;
      this.conclude(probe, { outcome: "error", output }, { lateMs, tookMs: 0 });
    });
    try {
      return await turns.acquire({ owner, signal: probe.calledOff.signal });
    } finally {
      report.cancel();
    }
  }

  private count({ pod, spec }: Probe, outcome: ProbeOutcome, tookMs: number): void {
    const subject = {
      uid: pod.uid,
      namespace: pod.namespace,
      pod: pod.name,
      container: spec.container,
      kind: spec.kind,
    };
    this.deps.probes.ran(subject, outcome, tookMs);
  }

  private async attempts(probe: Probe, turn: Turn): Promise<RunResult> {
    const longAt = later(this.deps.clock.monotonic(), LONG_RUN_MS);
    for (let tries = 1; ; tries++) {
      try {
        return await this.attempt(probe, { at: longAt, reached: () => turn.becomeLong() });
      } catch (error) {
        if (tries < TRIES && !probe.calledOff.signal.aborted && !(error instanceof ImpossibleProbeError)) continue;
        const text = messageOf(error);
        return { outcome: "error", output: boundedText(Buffer.from(text)) };
      }
    }
  }

  private async attempt({ spec, pod, calledOff }: Probe, long: Milestone): Promise<RunResult> {
    const { clock, runAction, userAgent } = this.deps;
    // The runtime keeps a command's time by itself.
    const limitMs = spec.action.type === "exec" ? spec.timeoutMs + RUNTIME_PATIENCE_MS : spec.timeoutMs;
    using deadline = new ProbeDeadline(clock, this.stalls, limitMs, calledOff.signal, long);
    const context: RunContext = { uid: pod.uid, deadline, userAgent };
    return await runAction(spec, context);
  }

  private conclude(
    probe: Probe,
    { outcome, output }: RunResult,
    { lateMs, tookMs }: { lateMs: number; tookMs: number },
  ): void {
    const { spec, pod } = probe;
    this.count(probe, outcome, tookMs);
    const before = probe.tally.verdict;
    probe.tally = tallyRun(probe.tally, outcome, spec);
    const { verdict } = probe.tally;
    const changed = verdict !== undefined && verdict !== before;
    if (changed && holds(spec.kind, verdict)) this.wheel.delete(probe);
    if (!changed && outcome === "success") return;
    this.deps.records.push(
      omitUndefined({
        uid: pod.uid,
        containerId: spec.containerId,
        kind: spec.kind,
        generation: spec.generation,
        outcome,
        output: outcome === "success" ? "" : output,
        verdict: changed ? verdict : undefined,
        inARow: probe.tally.count,
        lateMs,
        at: this.deps.clock.now(),
      }),
    );
  }
}

/** The probe stops until the container is another one. */
function holds(kind: ProbeKind, verdict: ProbeSpec["verdict"]): boolean {
  return kind === "startup" || (kind === "liveness" && verdict === "Failure");
}
