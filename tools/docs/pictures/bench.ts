// The bench beside the floor: bars from the table of docs/measurements/pod-start.md, "Manifest → process in the
// container".

import { path, rect, svg, text } from "./svg.js";

interface Row {
  pods: string;
  kubeletMs: number;
  floorMs: number;
  ratio: string;
}

const LABEL = 90;
const BARS = 600;
const GROUP = 62;
const TOP = 46;
const HEADING = "## Manifest → process in the container, beside bare CRI calls (ms)";

/** The rows of the table: time until the last pod of a burst runs. */
export function benchRows(page: string): Row[] {
  const [, section = ""] = page.split(HEADING, 2);
  const [table = ""] = /^\|[^]*?\n\n/m.exec(section) ?? [];
  const [head = [], , ...rows] = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const column = (name: string): number => {
    const index = head.indexOf(name);
    if (index < 0) throw new Error(`pod-start.md: the table below "${HEADING}" has no column "${name}"`);
    return index;
  };
  const [pods, last, floor, ratio] = [column("pods"), column("last"), column("floor last"), column("× floor")];
  return rows.map((cells) => ({
    pods: cells[pods] ?? "",
    kubeletMs: Number(cells[last]),
    floorMs: Number(cells[floor]),
    ratio: cells[ratio] ?? "",
  }));
}

/** Each burst's bars are drawn in multiples of its own floor. */
export function benchPicture(rows: readonly Row[]): string {
  const most = 1.5;
  const x = (ratio: number): number => LABEL + (BARS * ratio) / most;
  const bottom = TOP + rows.length * GROUP;
  return svg({
    title: "Time until the last pod of a burst runs, beside the floor",
    description: rows
      .map(({ pods, kubeletMs, floorMs }) => `${pods} pods: kubelet ${kubeletMs} ms, floor ${floorMs} ms`)
      .join("; "),
    width: LABEL + BARS + 90,
    height: bottom + 40,
    body: [
      ...[0, 0.25, 0.5, 0.75, 1, 1.25, 1.5].flatMap((ratio) => [
        path(
          [
            [x(ratio), TOP - 8],
            [x(ratio), bottom],
          ],
          "grid",
        ),
        text(x(ratio), TOP - 14, `${ratio} ×`, "small", "middle"),
      ]),
      ...rows.flatMap(({ pods, kubeletMs, floorMs, ratio }, index) => {
        const y = TOP + index * GROUP;
        const end = x(kubeletMs / floorMs);
        return [
          text(LABEL - 10, y + 32, pods === "1" ? "1 pod" : `${pods} pods`, "title", "end"),
          rect("box main bar", LABEL, y + 6, end - LABEL, 20, 3),
          text(end + 6, y + 21, `${kubeletMs} ms, ${ratio} × floor`, "small"),
          rect("box out bar", LABEL, y + 30, x(1) - LABEL, 20, 3),
          text(x(1) + 6, y + 45, `${floorMs} ms`, "small"),
        ];
      }),
      text(
        LABEL,
        bottom + 24,
        "yellow: with the kubelet · green: the floor, the same CRI calls without a kubelet",
        "small",
      ),
    ],
  });
}
