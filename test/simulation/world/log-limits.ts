// Which nodes have containers that write logs, and how these are rotated there.

import type { Random } from "../kernel/random.js";
import type { NodeShape } from "./node-shape.js";

export interface LogLimits {
  /** containerLogMaxSize, bytes. */
  size: number;
  /** containerLogMaxFiles. */
  files: number;
  /** containerLogMonitorInterval, s. */
  intervalSeconds: number;
  /** containerLogMaxWorkers. */
  workers: number;
  /** The runtime itself writes logs, as containerd: none while it restarts. Absent: another process does, as conmon. */
  isRuntimeWriting?: true;
}

/** Part of the nodes with a cluster: readers of the others need another kind of reviews. */
const SHARE = 0.3;
const SIZES = [4096, 8192, 16_384];
/** All logs of a pod must stay below what the promises about full disks allow for. */
const SIZES_ON_SHORT_DISKS = [4096, 8192];

export function withLogs(shape: NodeShape, random: Random): NodeShape {
  if (shape.hasOwnApi === true || !random.chance(SHARE)) return shape;
  const limits: LogLimits = {
    size: random.pick(shape.disks === undefined ? SIZES : SIZES_ON_SHORT_DISKS),
    files: random.pick([2, 3, 5]),
    intervalSeconds: random.pick([3, 10, 30]),
    workers: random.pick([1, 2]),
  };
  return withLogLimits(shape, random.chance(0.5) ? { ...limits, isRuntimeWriting: true } : limits);
}

export function withLogLimits(shape: NodeShape, logs: LogLimits): NodeShape {
  const fields = {
    ...shape.fields,
    containerLogMaxSize: String(logs.size),
    containerLogMaxFiles: logs.files,
    containerLogMonitorInterval: `${logs.intervalSeconds}s`,
    containerLogMaxWorkers: logs.workers,
    enableServer: true,
  };
  return { ...shape, logs, fields };
}
