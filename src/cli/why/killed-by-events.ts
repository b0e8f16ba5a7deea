// Stops by probes as far as events tell of them: for a kubelet whose main thread does not respond, or that has no
// record of the stop. Pure.

import type { ProbeKillFacts } from "../../shared/contracts/nodelet.js";
import { CRASH_RESET_MS } from "../../shared/kubernetes/api/crash-reset.js";
import { containerIdOf } from "../../shared/kubernetes/identifiers.js";
import { timeOf } from "../output/amounts.js";
import { eventsOf, type ContainerView, type WhyInput } from "./input.js";
import { lastEnd } from "./runs.js";

const FAILED = /failed (liveness|startup) probe/;
const DEFAULT_THRESHOLD = 3;

/** undefined: no event tells that a probe ended the container's last run. */
export function killByEvents({ events, now }: WhyInput, view: ContainerView): ProbeKillFacts | undefined {
  const { container } = view;
  const ended = lastEnd(view);
  const killing = eventsOf(events, container.name, "Killing").filter(({ message }) => FAILED.test(message));
  const last = killing.at(-1);
  const lastAt = timeOf(last?.lastTimestamp);
  const startedAt = timeOf(ended?.startedAt);
  if (last === undefined || lastAt === undefined || ended === undefined || startedAt === undefined) return undefined;
  if (lastAt < startedAt || now - lastAt > CRASH_RESET_MS) return undefined;
  const probe = FAILED.exec(last.message)?.[1] === "startup" ? "startup" : "liveness";
  const title = probe === "startup" ? "Startup" : "Liveness";
  const said = eventsOf(events, container.name, "Unhealthy").findLast(({ message }) => message.startsWith(title));
  const threshold = (probe === "startup" ? container.startupProbe : container.livenessProbe)?.failureThreshold;
  return {
    container: container.name,
    probe,
    containerId: containerIdOf(ended.containerID?.split("://")[1] ?? ""),
    kills: killing.reduce((sum, { count }) => sum + count, 0),
    lastAt,
    inARow: threshold ?? DEFAULT_THRESHOLD,
    answers: [{ text: said?.message.replace(/^\w+ probe (failed|errored[^:]*): ?/, "") ?? "", count: 1 }],
  };
}
