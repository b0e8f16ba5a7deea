// Handles a failed pass of a pod worker. It reports the failure and delays the next pass by a back-off that grows with
// each failure in a row.
// Invariant: an absent runtime counts as no failure of the pod; its return, or a new definition, ends the wait.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { recordPassFailure } from "./failure-events.js";
import { InspectionError } from "./pod-cache.js";
import { RETRY } from "./step-runner.js";
import { faultField } from "./user-made-failures.js";

export interface PassRetryDeps {
  clock: Clock;
  log: Logger;
  recorder: EventRecorder;
}

/** The pod of the failed pass, as log lines name it. */
export interface FailedPass {
  uid: PodUid;
  name: string;
  pod: Pod | undefined;
  /** A sandbox was created, and the pod was not observed since. */
  sandboxUnseen: boolean;
}

/** The last pass failed. */
export interface LastFailure {
  message: string;
  /** In a row. */
  failures: number;
  /** Milliseconds until the next try. */
  restMs: number;
}

export class PassRetry {
  private readonly backoff = new Backoff(RETRY);
  private lastMessage = "";
  /** A moment of the monotonic clock. */
  private notBefore = 0;

  constructor(private readonly deps: PassRetryDeps) {}

  /** Milliseconds to wait before the next try; none is left when it is 0 or less. */
  get rest(): number {
    return this.notBefore - this.deps.clock.monotonic();
  }

  /** undefined: the last pass succeeded. */
  get last(): LastFailure | undefined {
    const { failures } = this.backoff;
    return failures === 0 ? undefined : { message: this.lastMessage, failures, restMs: this.rest };
  }

  /** The cause of failed passes may have ended: the next pass need not wait. */
  retryNow(): void {
    this.notBefore = 0;
  }

  succeeded(): void {
    this.backoff.reset();
  }

  failed({ uid, name, pod, sandboxUnseen }: FailedPass, error: unknown): void {
    const { clock, log, recorder } = this.deps;
    const retryMs = this.backoff.next();
    this.notBefore = clock.monotonic() + retryMs;
    const message = messageOf(error);
    this.lastMessage = message;
    // The runtime's absence is reported once for the node, and its return wakes every worker.
    const isRuntimeDown =
      error instanceof CriUnavailableError ||
      (error instanceof InspectionError && error.code === CriUnavailableError.NAME);
    if (!isRuntimeDown) recordPassFailure(recorder, pod, error, sandboxUnseen);
    if (isRuntimeDown && this.backoff.failures > 1) return;
    log[isRuntimeDown ? "debug" : "error"](
      { pod: name, uid, ...faultField(error), retryMs },
      `${name}: sync failed, next try in ${retryMs / 1000}s: ${message}`,
    );
  }
}
