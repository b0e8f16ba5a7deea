// The parts of the status page that need no browser: places, logs, views; and the document as the build made it.
// @promise Command and status page: The whole status page has less than 110 KB and permits no script but its own; a
//   slow client costs no queue; without a client nothing is read.
// @with test/workers/server/page

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { h } from "../../src/page/dom/vnode.js";
import { LogTail, MAX_LINES } from "../../src/page/log-tail.js";
import { optionsOf, placeOf, podLink, withOptions } from "../../src/page/place.js";
import { chartsView } from "../../src/page/views/charts.js";
import { podRow } from "../../src/page/views/pod-rows.js";
import { podView } from "../../src/page/views/pod.js";
import { timelineView } from "../../src/page/views/timeline.js";
import { SAMPLE_MS, SAMPLES, type UsageSample } from "../../src/shared/contracts/status-page.js";
import type { PodTimeline } from "../../src/shared/contracts/timeline.js";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { node, NOW, seen } from "../cli/kit.js";
import { pod } from "../support/pods.js";
import { all, textOf } from "../support/vnodes.js";

const page = (name: string): Promise<string> => readFile(new URL(`../../agent/page/${name}`, import.meta.url), "utf8");

test("the whole page has less than 110 KB, and names no other origin", async () => {
  const html = await page("index.html");
  assert.ok(Buffer.byteLength(html) < 110_000, `${Buffer.byteLength(html)} bytes`);
  const addresses = [...html.matchAll(/(?:src|href|url)\s*[=(]\s*["']?((?:https?:)?\/\/[^"')\s]+)/g)].map(
    ([, to]) => to,
  );
  assert.deepEqual(addresses, []);
});

test("the policy permits the page's own script and style by their hashes, and nothing inline beside them", async () => {
  const [html, policy] = [await page("index.html"), await page("policy.txt")];
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const [, script = ""] = /<script>([^]*)<\/script>/.exec(html) ?? [];
  const [, style = ""] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
  assert.ok(script.length > 1000 && style.length > 1000);
  assert.ok(policy.includes(`script-src ${hash(script)};`));
  assert.ok(policy.includes(`style-src ${hash(style)};`));
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  assert.doesNotMatch(html.replace(script, "").replace(style, ""), / on\w+=| style=/);
});

test("a place and its link are inverse for any name", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (namespace, name) => {
      const place = placeOf(podLink(namespace, name));
      assert.deepEqual(place, { view: "pod", namespace, name });
    }),
  );
  assert.deepEqual(placeOf(""), { view: "pods" });
  assert.deepEqual(placeOf("#/pods/%zz/a"), { view: "pod", namespace: "%zz", name: "a" });
  assert.deepEqual(placeOf("#/config"), { view: "config" });
  assert.deepEqual(placeOf("#/unknown"), { view: "pods" });
});

test("the reader's choice and the address are inverse, at any place", () => {
  const place = fc.constantFrom("#/pods", "#/images", "#/config", podLink("default", "a?b"));
  const options = fc.record(
    { filter: fc.string(), sort: fc.string(), changed: fc.boolean() },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(place, options, (fragment, choice) => {
      const address = withOptions(`${fragment}?filter=before`, choice);
      assert.deepEqual(optionsOf(address), choice);
      assert.deepEqual(placeOf(address), placeOf(fragment));
    }),
  );
  assert.equal(withOptions("", { filter: "web", sort: "", changed: false }), "#/pods?filter=web");
  assert.equal(withOptions("#/pods?filter=web", { filter: "", sort: "", changed: false }), "#/pods");
});

test("a log in any pieces gives the same lines, without control sequences", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (pieces) => {
      const tail = new LogTail();
      for (const piece of pieces) tail.push(piece);
      const whole = new LogTail();
      whole.push(pieces.join(""));
      assert.deepEqual(tail.lines, whole.lines);
    }),
  );
  const tail = new LogTail();
  tail.push("\u001b[31mred\u001b[0m\nhalf");
  assert.deepEqual(tail.lines, ["red"]);
  assert.deepEqual(tail.end(), ["half"]);
  assert.deepEqual(tail.end(), []);
});

test("a log is bounded in lines and in their length", () => {
  const tail = new LogTail();
  for (let count = 0; count < 10; count++) tail.push("x\n".repeat(MAX_LINES));
  assert.equal(tail.lines.length, MAX_LINES);
  for (let count = 0; count < 100; count++) tail.push("y".repeat(4000));
  tail.push("\n");
  assert.equal(tail.lines.at(-1)?.length, 4000);
});

/** What a view of a pod has before its streams have sent anything. */
const NOTHING = {
  ...{ timeline: undefined, details: undefined, usage: undefined, startedAt: undefined, listLink: "#/pods" },
  ...{ history: [], pointed: undefined, onPoint: () => undefined },
};

test("hostile text becomes text of a node, never a node", () => {
  const hostile = "<img src=x onerror=alert(1)>";
  const node = h("p", {}, hostile);
  assert.deepEqual(node.children, [hostile]);
});

test("a pod's age counts from its arrival on the node, without one from its status", () => {
  const web = { ...pod({}, "web"), status: { phase: "Running", startTime: "1970-01-01T00:59:50Z" } as const };
  assert.equal(podRow(seen(web), undefined).startedAt, 3_590_000);
  assert.equal(podRow(seen(web), undefined, 0).startedAt, 0);
  const view = { pod: web, pods: [web], node: node(), facts: undefined, now: NOW, logs: () => h("p", {}), ...NOTHING };
  const [byStatus = "", byArrival = ""] = [undefined, NOW - 7_200_000].map((startedAt) =>
    textOf(podView({ ...view, startedAt })[0]!),
  );
  assert.match(byStatus, /Age \d{5}d CPU/);
  assert.match(byArrival, /Age 120m CPU/);
});

test("a finding shows its evidence", () => {
  const web = { ...pod({}, "web"), status: { phase: "Pending" } as const };
  const missingKey = { key: "url", object: "ConfigMap default/app", keys: ["host", "port"], more: 0 };
  const volumes = [{ name: "v", plugin: "config-map", mounted: false, lastError: "x", missingKey }];
  const facts = { uid: web.metadata.uid, startFailures: [], volumes };
  const view = { pod: web, pods: [web], node: node(), facts, now: NOW, logs: () => h("p", {}), ...NOTHING };
  const sections = podView(view);
  assert.deepEqual(sections.flatMap((section) => all(section, "pre")).map(textOf), ["host\nport"]);
});

test("bars of a start lie within the picture, and a failed step shows its reason", () => {
  const timeline: PodTimeline = {
    ...{ namespace: "default", name: "web", uid: podUid("1"), seenAt: 1000, runningAt: 2000 },
    ...{ phases: [], events: [], stagesDropped: 0 },
    stages: [
      { stage: "volumes", startedAt: 1000, endedAt: 1500 },
      { stage: "pull", container: "app", startedAt: 1500, endedAt: 9000, error: "no such host" },
      { stage: "exec", startedAt: 5000 },
    ],
  };
  const view = timelineView(timeline, 10_000);
  const bars = all(view, "rect").filter(({ props }) => props["x"] !== undefined);
  const ends = bars.map(({ props }) => [props["x"], props["width"]].map((text) => parseFloat(text as string)));
  assert.deepEqual(ends, [
    [0, 50],
    [50, 50],
  ]);
  assert.match(textOf(view), /failed: no such host/);
  assert.match(textOf(view), /1 other steps are not shown/);
});

test("charts have a description with the value, its limit and the highest value", () => {
  const now = 100 * SAMPLE_MS;
  const samples = Array.from({ length: 10 }, (_, index): UsageSample => ({
    at: now - (9 - index) * SAMPLE_MS,
    ...{ cpus: index / 10, memory: 2 ** 30, disk: 2 ** 31, processes: 80, kubelet: 2 ** 26 },
  }));
  const machine = { cpus: 2, memory: 2 ** 32, disk: 2 ** 32, processes: 1000 };
  const view = chartsView({ samples, machine, now, pointed: undefined, onPoint: () => undefined });
  const names = all(view, "svg").map(({ props }) => props["aria-label"] as string);
  assert.match(names[0] ?? "", /^CPU: 0\.90 CPUs of 2, at most 0\.90 CPUs since /);
  assert.match(names[1] ?? "", /^Memory: 1\.0 GiB of 4\.0 GiB/);
  const [line] = all(view, "polyline");
  for (const point of (line?.props["points"] as string).split(" ")) {
    const [x = -1, y = -1] = point.split(",").map(Number);
    assert.ok(x >= 0 && x <= 360 && y >= 0 && y <= 64, point);
  }
});

test("charts have a time axis, and all show the values of the moment under the pointer", () => {
  const now = 1000 * SAMPLE_MS;
  const samples = Array.from({ length: SAMPLES }, (_, index): UsageSample => ({
    at: now - (SAMPLES - 1 - index) * SAMPLE_MS,
    ...{ cpus: index / 100, memory: index, processes: index, kubelet: 5 },
  }));
  const points: (number | undefined)[] = [];
  const given = { samples, machine: undefined, now, onPoint: (at: number | undefined) => void points.push(at) };
  const view = chartsView({ ...given, pointed: undefined });
  const axis = all(view, "p").find(({ props }) => props.class?.includes("axis"));
  assert.deepEqual(axis?.children.map(textOf), ["−60m", "−40m", "−20m", "now"]);
  const svg = all(view, "svg")[0];
  svg?.props.on?.["pointermove"]?.({ offsetX: 50, currentTarget: { clientWidth: 100 } } as unknown as Event);
  const half = points[0] ?? NaN;
  assert.ok(Math.abs(now - half - (SAMPLES * SAMPLE_MS) / 2) < 2 * SAMPLE_MS);
  const pointed = chartsView({ ...given, pointed: half });
  assert.match(textOf(pointed), /1\.(79|80) CPUs/);
  assert.match(textOf(pointed), /(179|180) B/);
  assert.equal(all(pointed, "line").length, 4, "a mark in each chart with samples");
  const key = { key: "ArrowLeft", preventDefault: () => undefined } as unknown as Event;
  svg?.props.on?.["keydown"]?.(key);
  assert.equal(points[1], now - SAMPLE_MS);
  svg?.props.on?.["pointerleave"]?.(key);
  assert.equal(points[2], undefined);
});

test("charts without samples show a note", () => {
  const view = chartsView({ samples: [], machine: undefined, now: 0, pointed: undefined, onPoint: () => undefined });
  assert.match(textOf(view), /no sample yet/);
});
