// The charts of containers in the view of a pod: history since the page was opened, bounded, against limits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf } from "../../src/cli/why/input.js";
import { UsageHistory } from "../../src/page/usage-history.js";
import { containerCharts } from "../../src/page/views/container-charts.js";
import type { PodUsage } from "../../src/shared/contracts/status-page.js";
import { pod } from "../cli/kit.js";
import { all, textOf } from "../support/vnodes.js";

const MIB = 2 ** 20;
const usage = (cpu: number, memory: number, name = "app"): PodUsage => ({ containers: [{ name, cpu, memory }] });
const view = { now: 60_000, pointed: undefined, onPoint: () => undefined };

test("the history has a sample every five seconds, at most those of 15 minutes, and none of pods that are gone", () => {
  const history = new UsageHistory();
  for (let now = 0; now < 3_600_000; now += 1000) {
    history.take(now, [
      ["web", usage(0.1, MIB)],
      ["new", undefined],
    ]);
  }
  const samples = history.of("web");
  assert.equal(samples.length, 180);
  assert.equal((samples.at(-1)?.at ?? 0) - (samples.at(-2)?.at ?? 0), 5000);
  assert.deepEqual(history.of("new"), []);
  history.take(4_000_000, [["other", usage(0.1, MIB)]]);
  assert.deepEqual(history.of("web"), []);
  assert.equal(history.of("other").length, 1);
});

test("each container that uses something has a chart of CPU and of memory against its limits", () => {
  const limits = { cpu: "200m", memory: "64Mi" };
  const one = pod(
    {},
    { containers: [{ name: "app", resources: { limits } }, { name: "side" }], initContainers: [{ name: "ended" }] },
  );
  const samples = [0, 1, 2].map((index) => ({
    at: 40_000 + index * 10_000,
    containers: [...usage(0.05 * (index + 1), 16 * MIB).containers, { name: "side", cpu: 0.3 }],
  }));
  const shown = containerCharts(containersOf(one), samples, view);
  const names = shown.flatMap((part) => all(part, "svg")).map(({ props }) => String(props["aria-label"]));
  assert.match(names[0] ?? "", /^CPU of app: 150m of 200m, at most 150m since /);
  assert.match(names[1] ?? "", /^Memory of app: 16\.0 MiB of 64\.0 MiB, at most/);
  assert.match(names[2] ?? "", /^CPU of side: 300m, at most 300m/);
  assert.match(names[3] ?? "", /^Memory of side: no sample yet$/);
  assert.equal(names.length, 4);
  const lines = shown.flatMap((part) => all(part, "polyline"));
  for (const point of lines.flatMap(({ props }) => String(props["points"]).split(" "))) {
    const [x = -1, y = -1] = point.split(",").map(Number);
    assert.ok(x >= 0 && x <= 360 && y >= 0 && y <= 64, point);
  }
});

test("usage above a limit stays in the picture", () => {
  const one = pod({}, { containers: [{ name: "app", resources: { limits: { cpu: "100m" } } }] });
  const samples = [1, 2].map((index) => ({ at: index * 10_000, ...usage(index * 0.4, MIB) }));
  const [first] = containerCharts(containersOf(one), samples, view).flatMap((part) => all(part, "polyline"));
  for (const point of String(first?.props["points"]).split(" ")) assert.ok(Number(point.split(",")[1]) >= 0, point);
});

test("without a reading there is a note", () => {
  assert.match(
    containerCharts(containersOf(pod({}, { containers: [{ name: "app" }] })), [], view)
      .map(textOf)
      .join(),
    /No usage/,
  );
});
