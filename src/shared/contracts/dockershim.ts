// The dockershim thread's contract: a CRI v1 server over the Docker Engine API (docs/docker.md).
// Invariant: the thread keeps no state that the Engine, the checkpoints below `rootDir` and the log files do not have.
// It may restart at any time without an effect on containers.

import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";

/** Init data of the thread. Durations are milliseconds. */
export interface DockershimInit {
  /** Path of the unix socket that serves CRI. */
  socketPath: string;
  /** "unix:///var/run/docker.sock" or "tcp://host:port". */
  dockerEndpoint: string;
  /** Checkpoints of sandboxes are below it. */
  rootDir: string;
  /** Image of the containers that hold a pod's namespaces. */
  podInfraContainerImage: string;
  /** A pull without progress for this time is cancelled. */
  imagePullProgressDeadlineMs: number;
  /** Time limit of one request to the Engine, except stops, pulls and streams. */
  requestTimeoutMs: number;
  network: DockershimNetwork;
}

/** "none": docker's default network. */
export type DockershimNetwork =
  | { plugin: "none" }
  | { plugin: "cni"; binDirs: readonly string[]; confDir: string; cacheDir: string };

export interface DockershimControl {
  metrics(): Promise<MetricSnapshot>;
}
