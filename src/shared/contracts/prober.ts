// The contract of the prober and peers threads: the probes that they run, and their record of each run.
// Main sends a pod's whole set at a time, so that the next set repairs a missed one. Every record names the container
// and the generation of its probe, and main drops and counts outdated records.

import type { GetAction } from "../io/http/client/get-action.js";
import type { CriChannelKind } from "../kubernetes/cri/channel-kind.js";
import type { PodUid, ContainerId } from "../kubernetes/identifiers.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";

export const PROBE_KINDS = ["startup", "liveness", "readiness"] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/** A run that failed `failureThreshold` times in a row, or succeeded `successThreshold` times. */
export type ProbeVerdict = "Success" | "Failure";

/** Every host is an address or a host name, every port a number. The thread needs nothing else of the pod. */
export type ProbeAction =
  | { type: "exec"; command: string[] }
  | ({ type: "http" } & GetAction)
  | { type: "tcp"; host: string; port: number }
  | { type: "grpc"; host: string; port: number; service: string }
  /** Set if the probe cannot run, for example an unknown port name: every run is an error with this text. */
  | { type: "impossible"; reason: string };

/**
 * The thread that runs the probe. The peers thread reads bytes of servers that pods choose; the prober thread reads
 * none (docs/adr/0075).
 */
export function probeThreadOf({ type }: ProbeAction): "prober" | "peers" {
  switch (type) {
    case "exec":
    case "tcp":
    case "impossible":
      return "prober";
    case "http":
    case "grpc":
      return "peers";
  }
}

/** One kind of probe of one container. Durations are milliseconds. */
export interface ProbeSpec {
  containerId: ContainerId;
  kind: ProbeKind;
  /** The container's name. */
  container: string;
  /** Changes when the probe of this kind and container does; records carry it. */
  generation: number;
  action: ProbeAction;
  /** Start time of the container, milliseconds since the epoch: the initial delay counts from here. */
  startedAt: number;
  initialDelayMs: number;
  periodMs: number;
  timeoutMs: number;
  successThreshold: number;
  failureThreshold: number;
  /** The result that an earlier run of the thread or kubelet process found; thresholds count on from it. */
  verdict?: ProbeVerdict;
}

/** All that is probed of a pod now; no probes: nothing is, for the time being. */
export interface ProbedPod {
  uid: PodUid;
  namespace: string;
  name: string;
  probes: ProbeSpec[];
}

export interface ProbesDelta {
  set: ProbedPod[];
  /** These will not come back: their metrics go too. */
  gone: PodUid[];
}

export interface ProberControl {
  /** Full set after a (re)start of the thread. */
  setPods(pods: ProbedPod[]): void;
  applyPods(delta: ProbesDelta): void;
  /** For /metrics: how the thread itself does. */
  metrics(): Promise<MetricSnapshot>;
  /** For /metrics/probes: prober_probe_*, per container. */
  probeMetrics(): Promise<MetricSnapshot>;
}

export interface ProberInit {
  /** CRI endpoint, "unix:///…". */
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  /** Flag --cri-channel. */
  criChannel: CriChannelKind;
  /** "kube-probe/1.36" */
  userAgent: string;
}

/** Outcome of one run: `warning` counts as success, `error` means that the container's state is unknown. */
export type ProbeOutcome = "success" | "warning" | "failure" | "error";

/** Longest part of a response body or of a command's output that is kept. */
export const OUTPUT_LIMIT_BYTES = 10_240;

/** prober → main: a run that changed the verdict, or one that did not succeed. */
export interface ProbeRecord {
  uid: PodUid;
  containerId: ContainerId;
  kind: ProbeKind;
  generation: number;
  outcome: ProbeOutcome;
  /** At most OUTPUT_LIMIT_BYTES bytes. */
  output: string;
  /** Set when this run changed the verdict, or made the first one. */
  verdict?: ProbeVerdict;
  /** Runs in a row with this run's result; an error neither counts nor breaks a row. */
  inARow: number;
  /** Delay of the run's start, ms. */
  lateMs: number;
  /** End of the run, milliseconds since the epoch. */
  at: number;
}
