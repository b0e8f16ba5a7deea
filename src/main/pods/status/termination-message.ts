// The termination message of a container. Limits count bytes; a character cut in two is dropped whole.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ContainerState, PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod, TerminationMessagePolicy } from "../../../shared/kubernetes/api/pod.js";

/** Bytes read from the end of the termination message file. */
export const fileMessageLimit = 4096;
/** Lines, then bytes, taken from the end of the log when the file is empty. */
export const logFallbackLines = 80;
export const logFallbackLimit = 2048;
/** Bytes shared by all containers of a pod. */
const POD_MESSAGE_LIMIT = 12288;

/** The last 4096 bytes of the file. `content` may be any tail of it at least that long. */
export function fileMessage(content: Uint8Array): string {
  return tail(content, fileMessageLimit);
}

/** True if the container's log replaces the message file. */
export function fallsBackToLog(
  policy: TerminationMessagePolicy | undefined,
  message: string,
  exit: { exitCode: number; reason: string },
): boolean {
  return (
    policy === "FallbackToLogsOnError" && message === "" && exit.exitCode !== 0 && exit.reason !== "ContainerCannotRun"
  );
}

/** The last 80 lines, of them the last 2048 bytes. `log` is the output itself, without the log file's prefixes. */
export function logMessage(log: string): string {
  const ended = log.endsWith("\n");
  const lines = (ended ? log.slice(0, -1) : log).split("\n").slice(-logFallbackLines);
  return tail(Buffer.from(lines.join("\n") + (ended ? "\n" : ""), "utf8"), logFallbackLimit);
}

/** The runtime's message and the container's own. */
export function joinMessages(runtime: string, own: string): string {
  return runtime !== "" && own !== "" ? `${runtime}: ${own}` : runtime + own;
}

/** Cuts every termination message to the container's share of the pod's limit, keeping its beginning. */
export function limitMessages(pod: Pod, status: PodStatus): PodStatus {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  const share = Math.floor(
    POD_MESSAGE_LIMIT / Math.max(1, containers.length + initContainers.length + ephemeralContainers.length),
  );
  const cutAll = (statuses: NonNullable<PodStatus["containerStatuses"]>): typeof statuses =>
    statuses.map((container) => {
      const state = cutState(container.state, share);
      const lastState = cutState(container.lastState, share);
      return state === container.state && lastState === container.lastState
        ? container
        : { ...container, state, lastState };
    });
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = status;
  return omitUndefined({
    ...status,
    initContainerStatuses: initContainerStatuses ? cutAll(initContainerStatuses) : undefined,
    containerStatuses: containerStatuses ? cutAll(containerStatuses) : undefined,
    ephemeralContainerStatuses: ephemeralContainerStatuses ? cutAll(ephemeralContainerStatuses) : undefined,
  });
}

function cutState(state: ContainerState, limit: number): ContainerState {
  const message = state.terminated?.message;
  if (state.terminated === undefined || message === undefined) return state;
  const bytes = Buffer.from(message, "utf8");
  if (bytes.length <= limit) return state;
  let end = limit;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return { ...state, terminated: { ...state.terminated, message: bytes.toString("utf8", 0, end) } };
}

function tail(bytes: Uint8Array, limit: number): string {
  let start = Math.max(0, bytes.length - limit);
  if (start > 0) while (isContinuation(bytes[start])) start++;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.length - start).toString("utf8");
}

/** Is this byte inside a UTF-8 character, not its first? */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
