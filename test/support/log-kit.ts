// Helpers for tests of container logs: records and files in CRI format, and a reader's output.

import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { readContainerLogs, type ReadLogsOptions } from "../../src/workers/server/logs/pods/read.js";

export interface TestRecord {
  stream: "stdout" | "stderr";
  tag: "F" | "P";
  text: string;
  /** Seconds since the epoch. */
  second: number;
}

export function stampOf(second: number): string {
  return new Date(second * 1000).toISOString().replace("Z", "000000Z");
}

export function recordText({ stream, tag, text, second }: TestRecord): string {
  return `${stampOf(second)} ${stream} ${tag} ${text}\n`;
}

/** `stem` undefined: the file being written. */
export interface TestFile {
  stem?: string;
  compressed?: boolean;
  text: string;
}

/** Writes the files of container `app`, run 0; returns the pod's log directory. */
export async function writeLog(podLogs: string, files: readonly TestFile[]): Promise<string> {
  const directory = join(podLogs, "app");
  await mkdir(directory, { recursive: true });
  for (const { stem, compressed = false, text } of files) {
    const name = `0.log${stem === undefined ? "" : `.${stem}`}${compressed ? ".gz" : ""}`;
    const path = join(directory, name);
    await writeFile(path, compressed ? gzipSync(text) : text);
    // As after a rotation: a file is as old as its last line.
    const lines = text.trimEnd();
    const [last = ""] = lines.slice(lines.lastIndexOf("\n") + 1).split(" ", 1);
    if (!Number.isNaN(Date.parse(last))) await utimes(path, new Date(last), new Date(last));
  }
  return podLogs;
}

export function reading(podLogDirectory: string, options: Partial<ReadLogsOptions> = {}): AsyncGenerator<Uint8Array> {
  return readContainerLogs({ podLogDirectory, container: "app", restartCount: 0, clock: systemClock, ...options });
}

export async function readAll(podLogDirectory: string, options: Partial<ReadLogsOptions> = {}): Promise<string> {
  const blocks: Uint8Array[] = [];
  for await (const block of reading(podLogDirectory, options)) blocks.push(block);
  return Buffer.concat(blocks).toString();
}

/** The record as the Docker Engine writes it. */
export function dockerText({ stream, tag, text, second }: TestRecord): string {
  return `${JSON.stringify({ log: tag === "F" ? `${text}\n` : text, stream, time: stampOf(second) })}\n`;
}

export const DOCKER_ID = "d0c".padEnd(64, "5");

/**
 * The log of container `app`, run 0, as cri-dockerd makes it: a link to the file of the Docker Engine. Returns the
 * pod's log directory, and the path of the file.
 */
export async function writeDockerLog(
  folder: string,
  text: string,
  id = DOCKER_ID,
): Promise<{ podLogs: string; file: string }> {
  const podLogs = join(folder, "pods", "default_web_uid-web");
  const file = join(folder, "docker", "containers", id, `${id}-json.log`);
  await mkdir(join(podLogs, "app"), { recursive: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await symlink(file, join(podLogs, "app", "0.log"));
  return { podLogs, file };
}
