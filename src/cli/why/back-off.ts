// When the kubelet starts a crashing container again. Pure.

import { durationMs, timeOf } from "../output/amounts.js";
import type { ContainerView, Finding, WhyInput } from "./input.js";

/** The back-off counts from the exit: the message of the waiting state has its length. */
export function nextStart({ now }: WhyInput, { status }: ContainerView): Pick<Finding, "nextTryAt"> {
  const { reason, message = "" } = status?.state.waiting ?? {};
  const finishedAt = timeOf(status?.lastState.terminated?.finishedAt);
  const delay = durationMs(/back-off (\S+) restarting/.exec(message)?.[1] ?? "");
  if (reason !== "CrashLoopBackOff" || finishedAt === undefined || delay === undefined) return {};
  return { nextTryAt: Math.max(finishedAt + delay, now) };
}
