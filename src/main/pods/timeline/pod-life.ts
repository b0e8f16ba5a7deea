// One pod's timeline, written while it happens. Bounded: a pod that crashes for weeks keeps its newest stages.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { TimelineStage, TimelinePhase, PodTimeline } from "../../../shared/contracts/timeline.js";
import type { Event } from "../../../shared/kubernetes/api/event.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import { startSli } from "../../model/pod-start-sli.js";

/** A start with a dozen containers takes about 60 stages. */
const MAX_STAGES = 200;
const MAX_PHASES = 50;

interface PodIdentity {
  namespace: string;
  name: string;
  uid: PodUid;
}

export class PodLife {
  private readonly stages: TimelineStage[] = [];
  private readonly phases: TimelinePhase[] = [];
  private dropped = 0;
  private runningAt: number | undefined;
  goneAt: number | undefined;

  constructor(
    readonly identity: PodIdentity,
    /** Milliseconds since the epoch. */
    readonly seenAt: number,
  ) {}

  startStage(stage: string, container: string | undefined, now: number): TimelineStage {
    const entry: TimelineStage = omitUndefined({ stage, container, startedAt: now });
    this.stages.push(entry);
    if (this.stages.length > MAX_STAGES) {
      this.stages.shift();
      this.dropped++;
    }
    return entry;
  }

  phase(phase: string, reason: string | undefined, now: number): void {
    const last = this.phases.at(-1);
    if (last?.phase === phase && last.reason === reason) return;
    this.phases.push(omitUndefined({ at: now, phase, reason }));
    if (this.phases.length > MAX_PHASES) this.phases.shift();
  }

  /**
   * All containers run for the first time. Answers the start SLI in milliseconds; undefined when it was known before.
   */
  running(now: number, initContainers: ReadonlySet<string>): number | undefined {
    if (this.runningAt !== undefined) return undefined;
    this.runningAt = now;
    return startSli({ seenAt: this.seenAt, runningAt: now, stages: this.stages, initContainers });
  }

  show(events: Event[], initContainers: ReadonlySet<string>): PodTimeline {
    const { seenAt, runningAt, goneAt, stages } = this;
    return omitUndefined({
      ...this.identity,
      seenAt,
      runningAt,
      startSliMs: runningAt !== undefined ? startSli({ seenAt, runningAt, stages, initContainers }) : undefined,
      goneAt,
      phases: [...this.phases],
      stages: stages.map((stage) => ({ ...stage })),
      stagesDropped: this.dropped,
      events,
    });
  }
}

export function endStage(entry: TimelineStage, error: unknown, now: number): void {
  if (entry.endedAt !== undefined) return;
  entry.endedAt = now;
  entry.durationMs = now - entry.startedAt;
  if (error !== undefined) entry.error = errorText(error);
}
