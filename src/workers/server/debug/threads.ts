// The threads of this process and what each said of itself last, as a text.
import type { ThreadSnapshot } from "../../../shared/queue/board.js";

export function threadsText(threads: readonly ThreadSnapshot[]): string {
  const lines = threads.map(
    ({ thread, state, generation, ageMs, loopDelayMaxMicros, queueDepth, op, opAgeMs }) =>
      `${thread}: ${state}, start ${generation}, last tick ${Math.round(ageMs)} ms ago, ` +
      `loop delay ${Math.round(loopDelayMaxMicros / 1000)} ms at most, ${queueDepth} queued` +
      (op === 0 ? "" : `, operation ${op} for ${Math.round(opAgeMs)} ms`),
  );
  return `threads: total ${threads.length}\n${lines.join("\n")}\n`;
}
