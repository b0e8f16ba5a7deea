// The steps of a pod's start as bars. Pure.

import type { PodTimeline, TimelineStage } from "../../shared/contracts/timeline.js";
import { h, type VNode } from "../dom/vnode.js";

const SHOWN = 60;

export function timelineView({ seenAt, runningAt, stages, stagesDropped }: PodTimeline, now: number): VNode {
  // Steps long after the start would make the bars of the start too short to see.
  const start = runningAt === undefined ? stages : stages.filter(({ startedAt }) => startedAt <= runningAt);
  const shown = start.slice(-SHOWN);
  const left = stages.length - shown.length + stagesDropped;
  const ends = shown.map(({ endedAt }) => Math.min(endedAt ?? runningAt ?? now, runningAt ?? Infinity));
  const last = Math.max(seenAt + 1, runningAt ?? 0, ...ends);
  const percent = (at: number): number => Math.min(Math.max(((at - seenAt) / (last - seenAt)) * 100, 0), 100);
  return h(
    "div",
    {},
    h(
      "p",
      {},
      runningAt === undefined
        ? "The pod does not run yet."
        : `Running ${runningAt - seenAt} ms after the kubelet saw the pod.`,
      left > 0 && h("span", { class: "muted" }, ` ${left} other steps are not shown.`),
    ),
    h(
      "ol",
      { class: "bars" },
      shown.map((stage, index) => bar(stage, index, now, percent)),
    ),
  );
}

function bar(stage: TimelineStage, index: number, now: number, percent: (at: number) => number): VNode {
  const { startedAt, endedAt, container, error } = stage;
  const [from, to] = [percent(startedAt), percent(endedAt ?? now)];
  const tone = error !== undefined ? "bad" : endedAt === undefined ? "warn" : "good";
  const took = `${(endedAt ?? now) - startedAt} ms`;
  return h(
    "li",
    { key: `${stage.stage} ${container ?? ""} ${startedAt} ${index}` },
    h("span", { class: "step" }, container === undefined ? stage.stage : `${stage.stage} ${container}`),
    h("span", { class: "took" }, endedAt === undefined ? `${took}, goes on` : took),
    h(
      "svg",
      { class: `bar ${tone}`, "aria-hidden": "true" },
      h("rect", { class: "track", width: "100%", height: "100%", rx: "3" }),
      h("rect", { x: `${from}%`, width: `${Math.max(to - from, 0.6)}%`, height: "100%", rx: "3" }),
    ),
    error !== undefined && h("span", { class: "error" }, `failed: ${error}`),
  );
}
