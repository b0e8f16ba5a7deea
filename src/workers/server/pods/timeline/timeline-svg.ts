// A pod's timeline as a small SVG: one row per stage, in the order in which they began. Pure.

import { escapeHtml } from "../../../../shared/base/text/escape.js";
import type { PodTimeline, TimelineStage } from "../../../../shared/contracts/timeline.js";

const WIDTH = 900;
const LABEL_WIDTH = 260;
const ROW = 18;
const HEAD = 44;
const PHASE_ROW = 22;
const COLOURS = { done: "#4c8bf5", failed: "#d93025", open: "#f9ab00", phase: "#5f6368" };

/** `now` ends open stages; milliseconds since the epoch. */
export function timelineSvg(timeline: PodTimeline, now: number): string {
  const { stages, phases, seenAt } = timeline;
  const end = Math.max(
    seenAt + 1,
    timeline.goneAt ?? 0,
    ...phases.map(({ at }) => at),
    ...stages.map((stage) => endOf(stage, timeline, now)),
  );
  const x = (at: number): number => LABEL_WIDTH + ((at - seenAt) / (end - seenAt)) * (WIDTH - LABEL_WIDTH - 10);
  const height = HEAD + stages.length * ROW + PHASE_ROW + 8;
  const rows = stages.map((stage, index) => {
    const until = endOf(stage, timeline, now);
    const y = HEAD + index * ROW;
    const label = stage.container === undefined ? stage.stage : `${stage.stage} ${stage.container}`;
    const width = Math.max(x(until) - x(stage.startedAt), 1);
    const words = `${label}: ${until - stage.startedAt} ms${stage.error === undefined ? "" : `, failed: ${stage.error}`}`;
    return (
      `<g><title>${escape(words)}</title><text x="4" y="${y + 12}">${escape(cut(label, 36))}</text>` +
      `<rect x="${fixed(x(stage.startedAt))}" y="${y + 3}" width="${fixed(width)}" height="${ROW - 6}" ` +
      `fill="${colour(stage)}"/></g>`
    );
  });
  const phaseY = HEAD + stages.length * ROW;
  const marks = phases.map(
    ({ at, phase, reason }) =>
      `<line x1="${fixed(x(at))}" x2="${fixed(x(at))}" y1="${HEAD}" y2="${phaseY + 4}" stroke="${COLOURS.phase}" ` +
      `stroke-dasharray="2 3"/><text x="${fixed(x(at))}" y="${phaseY + 16}" fill="${COLOURS.phase}">` +
      `${escape(reason === undefined ? phase : `${phase} (${reason})`)}</text>`,
  );
  const title = `${timeline.namespace}/${timeline.name}`;
  const sum = timeline.runningAt === undefined ? "not running yet" : `running after ${timeline.runningAt - seenAt} ms`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" ` +
    `font-size="11"><rect width="100%" height="100%" fill="#fff"/>` +
    `<text x="4" y="16" font-size="14">${escape(title)}</text>` +
    `<text x="4" y="32" fill="${COLOURS.phase}">${escape(`seen ${new Date(seenAt).toISOString()}, ${sum}`)}</text>` +
    `${rows.join("")}${marks.join("")}</svg>\n`
  );
}

function endOf(stage: TimelineStage, timeline: PodTimeline, now: number): number {
  return stage.endedAt ?? Math.max(timeline.goneAt ?? now, stage.startedAt);
}

function colour(stage: TimelineStage): string {
  if (stage.error !== undefined) return COLOURS.failed;
  return stage.endedAt === undefined ? COLOURS.open : COLOURS.done;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/**
 * Names and errors come from manifests and runtimes: they must not become markup. Characters that XML 1.0 cannot
 * represent are omitted.
 */
function escape(text: string): string {
  return escapeHtml(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, ""));
}
