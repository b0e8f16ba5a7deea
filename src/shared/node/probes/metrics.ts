// Metrics of the probes: what upstream counts per container (for /metrics/probes), and how well the prober thread keeps
// its schedule (for /metrics).

import type { ProbeKind, ProbeOutcome } from "../../contracts/prober.js";
import type { PodUid } from "../../kubernetes/identifiers.js";
import type { ThreadRegistry } from "../../telemetry/metrics/thread-registry.js";

const PROBE_TYPES: Readonly<Record<ProbeKind, string>> = {
  startup: "Startup",
  liveness: "Liveness",
  readiness: "Readiness",
};
const RESULTS: Readonly<Record<ProbeOutcome, string>> = {
  success: "successful",
  warning: "successful",
  failure: "failed",
  error: "unknown",
};

interface ProbeSubject {
  uid: PodUid;
  namespace: string;
  pod: string;
  container: string;
  kind: ProbeKind;
}

export interface ProbeMetrics {
  ran(subject: ProbeSubject, outcome: ProbeOutcome, durationMs: number): void;
  /** The pod was removed: its series are removed with it, else they would accumulate. */
  forget(uid: PodUid): void;
}

export function probeMetrics(registry: ThreadRegistry): ProbeMetrics {
  const totalLabels = ["probe_type", "result", "container", "pod", "namespace", "pod_uid"] as const;
  const durationLabels = ["probe_type", "container", "pod", "namespace"] as const;
  const total = registry.counter(
    "prober_probe_total",
    "Cumulative number of liveness, readiness or startup probes for a container, by result",
    totalLabels,
  );
  const duration = registry.histogram(
    "prober_probe_duration_seconds",
    "Duration in seconds for a probe response",
    durationLabels,
  );
  /** Subjects with series, under "container/kind". */
  const seen = new Map<PodUid, Map<string, ProbeSubject>>();
  const labelsOf = (subject: ProbeSubject) => ({
    probe_type: PROBE_TYPES[subject.kind],
    container: subject.container,
    pod: subject.pod,
    namespace: subject.namespace,
  });
  return {
    ran(subject, outcome, durationMs) {
      const ofPod = seen.get(subject.uid) ?? new Map<string, ProbeSubject>();
      seen.set(subject.uid, ofPod.set(`${subject.container}/${subject.kind}`, subject));
      total.inc({ ...labelsOf(subject), result: RESULTS[outcome], pod_uid: subject.uid });
      // As upstream: a failure mostly lasts as long as its time-out, which would hide how fast the others are.
      if (RESULTS[outcome] === "successful") duration.observe(labelsOf(subject), durationMs / 1000);
    },
    forget(uid) {
      for (const subject of seen.get(uid)?.values() ?? []) {
        duration.remove(labelsOf(subject));
        for (const result of new Set(Object.values(RESULTS))) {
          total.remove({ ...labelsOf(subject), result, pod_uid: uid });
        }
      }
      seen.delete(uid);
    },
  };
}

export interface ScheduleMetrics {
  /** A run began, so long after it was due. */
  began(lateMs: number): void;
  /** Skipped runs: the previous run was not complete, or the thread was late by a whole period. */
  skipped(reason: "overrun" | "held-up", count: number): void;
  /** Probes scheduled now. */
  watchScheduled(read: () => number): void;
}

/** Later than this, and a run counts as late. */
const LATE_MS = 50;

export function scheduleMetrics(registry: ThreadRegistry): ScheduleMetrics {
  const lateness = registry.histogram(
    "nodelet_probe_lateness_seconds",
    "Delay in seconds between the due time and the start of a probe",
    [],
    [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  );
  const late = registry.counter(
    "nodelet_probe_late_total",
    `Number of probes that started more than ${LATE_MS} ms late`,
  );
  const skipped = registry.counter("nodelet_probe_skipped_total", "Number of due probes that were skipped, by reason", [
    "reason",
  ]);
  for (const reason of ["overrun", "held-up"] as const) skipped.inc({ reason }, 0);
  const scheduled = registry.gauge("nodelet_probes_scheduled", "Number of scheduled probes");
  return {
    began(lateMs) {
      lateness.observe(lateMs / 1000);
      if (lateMs > LATE_MS) late.inc();
    },
    skipped(reason, count) {
      if (count > 0) skipped.inc({ reason }, count);
    },
    watchScheduled(read) {
      registry.onSnapshot(() => scheduled.set(read()));
    },
  };
}
