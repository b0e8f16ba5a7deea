// SIGTERM and SIGINT: the first starts an orderly stop, the second ends the process at once with code 1.

import type { Logger } from "../../../shared/telemetry/log/logger.js";

type StopSignal = "SIGTERM" | "SIGINT";

/** The used part of `process`; tests pass their own. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): unknown;
}

export interface StopRequest extends Disposable {
  /** Resolves with the first signal. Stays pending when there is none. */
  readonly requested: Promise<StopSignal>;
  /** Aborted by the first signal, for calls that take an AbortSignal. */
  readonly aborted: AbortSignal;
}

const SIGNALS: readonly StopSignal[] = ["SIGTERM", "SIGINT"];

export function listenForStop(source: SignalSource, log: Pick<Logger, "info" | "warn">): StopRequest {
  const controller = new AbortController();
  let resolve: (signal: StopSignal) => void = () => undefined;
  const requested = new Promise<StopSignal>((done) => {
    resolve = done;
  });
  const onSignal = (signal: StopSignal): void => {
    if (controller.signal.aborted) {
      log.warn({ signal }, "second signal: exiting without waiting");
      source.exit(1);
      return;
    }
    log.info({ signal }, "stopping; a second signal exits at once");
    controller.abort(new Error(`stopped by ${signal}`));
    resolve(signal);
  };
  for (const signal of SIGNALS) source.on(signal, onSignal);
  return {
    requested,
    aborted: controller.signal,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) source.off(signal, onSignal);
    },
  };
}
