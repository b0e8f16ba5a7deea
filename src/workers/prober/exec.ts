// exec probes: ExecSync on this thread's own CRI connection. The first exec probe creates it, because it loads all of
// gRPC.
// Invariant: a stopped probe does not cancel its call. If containerd loses its client while a command starts, it holds
// the container's shim for 30 s. That would delay the stop of the container.

import type { Clock } from "../../shared/base/clock/clock.js";
import { goDuration } from "../../shared/base/clock/go-duration.js";
import { OperatorError } from "../../shared/base/errors/operator-error.js";
import { quote } from "../../shared/base/text/quote.js";
import type { Deferred } from "../../shared/base/turns/deferred.js";
import type { ProbeAction } from "../../shared/contracts/prober.js";
import type { CriChannelKind } from "../../shared/kubernetes/cri/channel-kind.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { deferredCriClient } from "../../shared/kubernetes/cri/deferred-client.js";
import { CriCancelledError, CriDeadlineExceededError, CriError, grpcText } from "../../shared/kubernetes/cri/errors.js";
import type { ContainerId } from "../../shared/kubernetes/identifiers.js";
import type { ProbeDeadline } from "../../shared/node/probes/probe-deadline.js";
import { boundedText, failure, RUNTIME_PATIENCE_MS, success, type RunResult } from "../../shared/node/probes/run.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface ExecOptions {
  endpoint: string;
  runtimeRequestTimeoutMs: number;
  criChannel: CriChannelKind;
  clock: Clock;
  registry: ThreadRegistry;
  log: Logger;
}

export class ExecProbes {
  private readonly client: Deferred<CriClient>;

  constructor({ criChannel, endpoint, runtimeRequestTimeoutMs, clock, registry, log }: ExecOptions) {
    this.client = deferredCriClient({ endpoint, channel: criChannel, runtimeRequestTimeoutMs, clock, registry, log });
  }

  /** `deadline` is the container's time-out and the runtime's patience together. */
  async run(
    { command }: Extract<ProbeAction, { type: "exec" }>,
    containerId: ContainerId,
    timeoutMs: number,
    deadline: ProbeDeadline,
  ): Promise<RunResult> {
    const cri = await this.client.get();
    const request = { containerId, cmd: command, timeout: BigInt(Math.ceil(timeoutMs / 1000)) };
    try {
      const { exitCode, stdout, stderr } = await untilCalledOff(deadline, (signal) =>
        cri.execSync(request, { signal }),
      );
      const output = boundedText(stdout, stderr);
      return exitCode === 0 ? success(output) : failure(output);
    } catch (error) {
      if (error instanceof CriDeadlineExceededError) {
        return failure(`command timed out: ${quote(command.join(" "))} timed out after ${goDuration(timeoutMs)}`);
      }
      if (error instanceof CriCancelledError && deadline.expired) {
        throw new OperatorError(
          `the runtime has not responded to ExecSync of ${quote(command.join(" "))} ${goDuration(RUNTIME_PATIENCE_MS)} after its time-out`,
        );
      }
      throw error instanceof CriError ? new OperatorError(grpcText(error), { cause: error }) : error;
    }
  }

  close(): Promise<void> {
    return this.client.stop();
  }
}

/**
 * Settles as `call` does, or rejects when the probe is called off; the signal that `call` gets is of the time-out only.
 */
function untilCalledOff<T>(deadline: ProbeDeadline, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  deadline.signal.throwIfAborted();
  const late = new AbortController();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      if (deadline.expired) late.abort(deadline.signal.reason);
      else reject(deadline.signal.reason as Error);
    };
    deadline.signal.addEventListener("abort", onAbort, { once: true });
    call(late.signal)
      .then(resolve, reject)
      .finally(() => deadline.signal.removeEventListener("abort", onAbort));
  });
}
