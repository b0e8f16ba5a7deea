// nodelet timeline: the steps of a pod's start as bars in the terminal, or as an SVG file.

import { writeFile } from "node:fs/promises";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { oneLine } from "../../shared/base/text/printable.js";
import type { PodTimeline, TimelineStage } from "../../shared/contracts/timeline.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { moment } from "../output/amounts.js";
import { print } from "../output/print.js";
import { cut, wrap } from "../output/table.js";
import { findPod, podsOf } from "../pods/find.js";
import { podPath } from "../pods/pod-paths.js";

export interface TimelineOptions {
  namespace?: string;
  svg?: string;
}

export async function timelineCommand(
  context: Context,
  named: string,
  { namespace, svg }: TimelineOptions,
): Promise<ExitCode> {
  const { client, clock, write } = context;
  const pod = findPod(await podsOf(client), named, namespace);
  const path = `/debug/pods/${podPath(pod)}/timeline`;
  if (svg !== undefined) {
    const picture = await client.text(`${path}?format=svg`);
    await writeFile(svg, picture).catch((error: unknown) => {
      throw new CliError(EXIT.wrong, `cannot write ${svg}: ${messageOf(error)}`, "name another file with --svg");
    });
    write(`wrote ${svg}\n`);
    return EXIT.fine;
  }
  const timeline = await client.find<PodTimeline>(path);
  if (timeline === undefined) throw new CliError(EXIT.wrong, `the kubelet has no timeline of ${named}`);
  await print(context, timeline, () => timelineText(context, timeline, clock.now()));
  return EXIT.fine;
}

const LABEL = 30;
const NUMBER = 9;
const WIDTH = 100;
const SHOWN_ERROR = 200;

/** @internal */
export function timelineText(
  { paint, columns }: Pick<Context, "paint" | "columns">,
  timeline: PodTimeline,
  now: number,
): string {
  const { namespace, name, seenAt, runningAt, stages, phases, stagesDropped } = timeline;
  const ends = stages.map(({ startedAt, endedAt }) => endedAt ?? Math.max(now, startedAt));
  // A stage of hours must not shrink the start to one character.
  const start = runningAt === undefined ? [] : stages.filter(({ startedAt }) => startedAt <= runningAt);
  const last =
    runningAt === undefined
      ? Math.max(seenAt + 1, ...ends)
      : Math.max(seenAt + 1, runningAt, ...start.map(({ endedAt }) => Math.min(endedAt ?? runningAt, runningAt * 2)));
  const room = Math.max(Math.min(columns, WIDTH) - LABEL - NUMBER - 2, 20);
  const scale = room / (last - seenAt);
  const line = (stage: TimelineStage): string => {
    const { startedAt, endedAt, error, container } = stage;
    const until = endedAt ?? now;
    const from = Math.min(Math.max(Math.floor((startedAt - seenAt) * scale), 0), room - 1);
    const to = Math.min(Math.max(Math.ceil((until - seenAt) * scale), from + 1), room);
    const bar = (endedAt === undefined ? "░" : "█").repeat(to - from);
    const label = cut(oneLine(container === undefined ? stage.stage : `${stage.stage} ${container}`), LABEL - 1);
    const colour = error !== undefined ? "red" : endedAt === undefined ? "yellow" : "green";
    const shown = `${" ".repeat(from)}${paint(colour, bar)}${" ".repeat(room - to)}`;
    const bars = `${label.padEnd(LABEL)}${`${until - startedAt} ms`.padStart(NUMBER)} ${shown}`;
    if (error === undefined) return bars;
    const failed = `failed: ${cut(oneLine(error), SHOWN_ERROR)}`;
    return columns === Infinity ? `${bars} ${failed}` : `${bars}\n${wrap(failed, columns, "  ")}`;
  };
  const head = runningAt === undefined ? "not running yet" : `running after ${runningAt - seenAt} ms`;
  return [
    wrap(`${namespace}/${name}: seen ${moment(seenAt)}, ${head}`, columns),
    ...(stagesDropped > 0 ? [`(${stagesDropped} earlier steps are left out)`] : []),
    ...stages.map(line),
    ...phases.map(
      ({ at, phase, reason }) => `phase ${phase}${reason === undefined ? "" : ` (${reason})`} after ${at - seenAt} ms`,
    ),
    "",
  ].join("\n");
}
