// How long a crashing container waits at most.
import { formatDuration } from "../duration.js";
import type { ConfigView, Violation } from "./rule.js";
import { needsGate } from "./check.js";

const PATH = "crashLoopBackOff.maxContainerRestartPeriod";
const GATE = "KubeletCrashLoopBackOffMax";

export function* crashLoop(config: ConfigView): Iterable<Violation> {
  const period = config.get(PATH);
  if (!config.gate(GATE)) {
    if (period !== undefined) yield needsGate(PATH, GATE);
  } else if (period === undefined) {
    yield { path: PATH, message: `is empty while ${GATE} is on; set a duration from 1s to 300s` };
  } else {
    const whole = Math.trunc(period);
    if (whole < 1000 || whole > 300_000) {
      yield { path: PATH, message: `${formatDuration(period)} is not a duration from 1s to 300s` };
    }
  }
}
