// Time limits of each CRI verb: its deadline, and how long it may finish after an abort. The deadlines are the contract
// of runtimeRequestTimeout.

import { LONGEST_SECONDS } from "../../base/clock/durations.js";
import type { CriVerb } from "./verbs.js";

/**
 * Deadline of one call, milliseconds; undefined means none.
 * `timeoutSeconds` is the request's own timeout field (grace of StopContainer, limit of ExecSync), 0 when it has none.
 */
export function deadlineFor(verb: CriVerb, timeoutSeconds: number, defaultMs: number): number | undefined {
  const own = Math.max(0, timeoutSeconds) * 1000;
  switch (verb) {
    case "RunPodSandbox":
      return defaultMs * 2;
    case "StopContainer":
      return defaultMs + own;
    case "ExecSync":
      return own === 0 ? undefined : defaultMs + own;
    case "CheckpointContainer":
      return Math.max(defaultMs, own);
    case "PullImage":
    case "GetContainerEvents":
      return undefined;
    default:
      return defaultMs;
  }
}

/**
 * The request with a timeout that the runtime can hold. Runtimes multiply it by 1e9: a value that overflows becomes
 * negative, which means "at once".
 */
export function withBoundedTimeout<Request extends object>(request: Request): Request {
  if (timeoutSecondsOf(request) <= LONGEST_SECONDS) return request;
  return { ...request, timeout: BigInt(LONGEST_SECONDS) };
}

/** The request's timeout field, whole seconds; 0 when the message has none. */
export function timeoutSecondsOf(request: object): number {
  return "timeout" in request && typeof request.timeout === "bigint" ? Number(request.timeout) : 0;
}

/** Time for a call that makes something to finish after its abort. */
const FINISH_MS = 5000;

/**
 * Milliseconds that a call has to finish after an abort, before the client cancels it. containerd that loses the client
 * in the middle of StartContainer may leave a task that no call can remove:
 * https://github.com/containerd/containerd/issues/11037.
 */
export function finishMsOf(verb: CriVerb): number {
  switch (verb) {
    case "RunPodSandbox":
    case "CreateContainer":
    case "StartContainer":
      return FINISH_MS;
    default:
      return 0;
  }
}
