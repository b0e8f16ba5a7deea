// Between main and the log thread. The log thread is not one of the supervised threads, because those log through it.
// It starts before them, loads few modules, and has no calls. Lines come through one ring per logging thread; flushes
// are confirmed in shared memory.

import type { LogWordsBuffer } from "../base/queue/log-words.js";
import type { RecentLinesBuffer } from "../base/queue/recent-lines.js";
import type { RingBuffers } from "../base/queue/ring.js";

/** The workerData of the log thread. */
export interface LogInit {
  words: LogWordsBuffer;
  /** Keeps the last lines, for the admin socket. */
  recent: RecentLinesBuffer;
  /** One per logging thread; a restarted thread continues with its predecessor's ring. */
  rings: RingBuffers[];
  /** Info lines of a split stream. */
  outFd: number;
  /** All other lines. */
  errFd: number;
  splitStream: boolean;
  infoBufferBytes: number;
  flushFrequencyMs: number;
}

/** main → log thread. */
export type LogMessage =
  | { kind: "ring"; ring: RingBuffers }
  /** A number in the shared memory has changed. */
  | { kind: "flush" };
