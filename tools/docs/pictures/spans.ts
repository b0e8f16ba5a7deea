// A pod's start as spans: bars on a time axis, from the spans that a kubelet sent to a collector
// (docs/pictures/pod-start.json).

import { path, rect, svg, text } from "./svg.js";

export interface DrawnSpan {
  name: string;
  /** Milliseconds after the start of the first span. */
  startMs: number;
  durationMs: number;
}

const LABEL = 250;
const BARS = 560;
const ROW = 26;
const TOP = 44;

export function podStart(spans: readonly DrawnSpan[]): string {
  const endMs = Math.max(...spans.map(({ startMs, durationMs }) => startMs + durationMs));
  const scale = BARS / endMs;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((ms) => endMs / ms <= 10) ?? 1000;
  const bottom = TOP + spans.length * ROW;
  const ticks = Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => index * step);
  return svg({
    title: "A static pod's start as spans",
    description: spans
      .map(({ name, startMs, durationMs }) => `${name}: from ${startMs} ms, ${durationMs} ms`)
      .join("; "),
    width: LABEL + BARS + 90,
    height: bottom + 20,
    body: [
      ...ticks.flatMap((ms) => [
        path(
          [
            [LABEL + ms * scale, TOP - 8],
            [LABEL + ms * scale, bottom],
          ],
          "grid",
        ),
        text(LABEL + ms * scale, TOP - 14, `${ms} ms`, "small", "middle"),
      ]),
      ...spans.flatMap(({ name, startMs, durationMs }, index) => {
        const y = TOP + index * ROW;
        const x = LABEL + startMs * scale;
        const width = Math.max(durationMs * scale, 2);
        return [
          text(LABEL - 10, y + 15, name, "", "end"),
          rect(index === 0 ? "box main bar" : "box bar", x, y + 3, width, ROW - 8, 3),
          text(x + width + 6, y + 15, `${durationMs} ms`, "small"),
        ];
      }),
    ],
  });
}
