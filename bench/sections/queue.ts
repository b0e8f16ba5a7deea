// The ring queue beside a plain MessagePort (bench/queue.ts runs alone, too).
// @headline Speed | A queue between threads carries records. | ≥ 1 M per s

import type { Section } from "../lib/section.js";
import { benchQueue, type QueueBenchResult } from "../queue.js";

export const queueSection: Section<QueueBenchResult> = {
  name: "queue",
  run: () => benchQueue(),
  report: ({ recordBytes, rows }) => [
    {
      title: `Between threads: records of ${recordBytes} bytes, latency when idle (µs)`,
      head: ["transport", "direction", "p50", "p99", "max", "M records/s"],
      rows: rows.map(({ transport, direction, latency, recordsPerSecond }) => [
        transport,
        direction,
        Math.round(latency.p50),
        Math.round(latency.p99),
        Math.round(latency.max),
        Math.round(recordsPerSecond / 10_000) / 100,
      ]),
    },
  ],
};
