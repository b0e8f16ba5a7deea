// The server thread's control interface. It serves pods from its own copy, so /pods answers even while main is stuck.
// After every (re)start main sends the full set once (setPods), then deltas (applyPods), in order.
import type { Pod } from "../api/pod.js";
import type { MetricSnapshot } from "../metrics/snapshot.js";
import type { PodTimeline } from "./timeline.js";

export interface ListenAddress {
  address: string;
  port: number;
}

/** What main may ask of the server thread. */
export interface ServerControl {
  /** Full snapshot after (re)start: replaces what the thread knew. */
  setPods(pods: Pod[]): Promise<void>;
  /** Coalesced deltas; `removed` holds pod UIDs. */
  applyPods(delta: PodsDelta): Promise<void>;
  /** What /configz answers from now on. */
  setConfigz(bodies: ConfigzBodies): Promise<void>;
  /** Where the thread listens, once each listener has been tried; a listener that is off or failed is absent. */
  listening(): Promise<Listening>;
  /** The thread's own metrics, process_* included. */
  metrics(): Promise<MetricSnapshot>;
}

export interface PodsDelta {
  set: Pod[];
  /** Pod UIDs. */
  removed: string[];
}

export interface Listening {
  readOnly?: ListenAddress;
  healthz?: ListenAddress;
}

/** What the server thread may ask of main. */
export interface ServerUpcalls {
  /** Snapshots of main and of every other thread but the server's own. */
  collectMetrics(): Promise<MetricSnapshot[]>;
  /** The newest pod of that name; undefined: not known. */
  timeline(namespace: string, name: string): Promise<PodTimeline | undefined>;
  /** What /metrics/probes shows. */
  collectProbeMetrics(): Promise<MetricSnapshot[]>;
}

/** What /configz answers, JSON, secrets masked: `{"kubeletconfig": …}`, and the same with `"origins"`. */
export interface ConfigzBodies {
  plain: string;
  withOrigins: string;
}

export interface ServerInit {
  /** IP the read-only port listens on. */
  address: string;
  /** 0 = off. */
  readOnlyPort: number;
  healthzBindAddress: string;
  /** 0 = off. */
  healthzPort: number;
  /** The sync loop is unhealthy when it was not entered for this long: max(2 × syncFrequency, 5 min). */
  syncLoopMaxAgeMs: number;
  nodeName: string;
  configz: ConfigzBodies;
}
