// The last lines of a container's run, as evidence of a finding. Bounded: a container may write what it likes.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import { escapedLine } from "../output/escape.js";
import { podPath } from "../pods/pod-paths.js";
import type { Evidence, Finding } from "./input.js";
import { outputHelp } from "./start-help.js";

const LINES = 5;
const LINE_LENGTH = 200;
/** Bytes read of the last lines, and of those the bytes that are kept. */
const MAX_READ = 1024 * 1024;
const MAX_KEPT = 64 * 1024;
const DEADLINE_MS = 5000;

/** The finding with the last lines of its run, and remedies for what they say. */
export async function withOutput(client: Client, pod: Pod, finding: Finding): Promise<Finding> {
  const { output, evidence = [], help } = finding;
  if (output === undefined) return finding;
  const last = await lastOutput(client, pod, output);
  return { ...finding, evidence: [...evidence, last], help: [...outputHelp(last.lines), ...help] };
}

async function lastOutput(
  client: Client,
  pod: Pod,
  { container, previous }: NonNullable<Finding["output"]>,
): Promise<Evidence> {
  const title = "its last output";
  const path = `/containerLogs/${podPath(pod)}/${encodeURIComponent(container)}?tailLines=${LINES}${previous ? "&previous=true" : ""}`;
  try {
    const lines = (await tailOf(client, path)).split("\n").filter((line) => line.trim() !== "");
    if (lines.length === 0) return { title, lines: ["(it wrote nothing)"] };
    return { title, lines: lines.slice(-LINES).map((line) => escapedLine(line, LINE_LENGTH)) };
  } catch (error) {
    return { title, lines: [`(cannot be read: ${escapedLine(messageOf(error), LINE_LENGTH)})`] };
  }
}

async function tailOf(client: Client, path: string): Promise<string> {
  const response = await client.open(path, DEADLINE_MS);
  let kept = Buffer.alloc(0);
  let read = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    read += chunk.length;
    kept = Buffer.concat([kept, chunk]).subarray(-MAX_KEPT);
    // Leaving the loop destroys the response.
    if (read >= MAX_READ) break;
  }
  return kept.toString("utf8");
}
