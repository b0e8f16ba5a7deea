// One entry per call served, in the order they came in.

import type { CriCode } from "../../src/shared/kubernetes/cri/errors.js";
import type { CriVerb } from "../../src/shared/kubernetes/cri/verbs.js";

export interface FakeCall {
  verb: CriVerb;
  /** The decoded request message. */
  request: unknown;
  /** performance.now() when it came in. */
  startedAt: number;
  /** Milliseconds until its deadline when it came in; Infinity without a deadline. */
  remainingMs: number;
  /** performance.now() when it was answered; undefined while it runs. */
  endedAt?: number;
  /** Status it was answered with; undefined while it runs. */
  code?: CriCode;
  /** The trace context that came with it (W3C). */
  traceparent?: string;
}
