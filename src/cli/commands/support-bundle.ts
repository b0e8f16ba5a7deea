// nodelet support-bundle: what an issue needs, in one tar.gz: secrets are masked, and every part is bounded.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { NodeletEvents } from "../../shared/contracts/nodelet.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { maskLog, maskMessages, maskPod } from "../bundle/mask.js";
import { maskText } from "../bundle/mask-text.js";
import { tar, type ArchivedFile } from "../bundle/tar.js";
import type { Context } from "../context.js";
import { readMachine } from "../doctor/machine.js";
import { statusOf } from "./doctor.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { podsOf } from "../pods/find.js";

/** Of one part; the rest of it is left out. */
const PART_BYTES = 4 * 1024 * 1024;
const LOG_LINES = "5000";
const LOG_MS = 20_000;

export async function bundleCommand({ client, clock, write }: Context, { file }: { file?: string }): Promise<ExitCode> {
  const now = clock.now();
  const stamp = new Date(now).toISOString().slice(0, 19).replace(/[:T]/g, "-");
  const name = `nodelet-support-${stamp}`;
  const parts: [string, () => Promise<string>][] = [
    ["status.json", async () => pretty(maskMessages(await client.json("/nodelet/status")))],
    ["pods.json", async () => pretty((await podsOf(client)).map(maskPod))],
    ["events.json", async () => pretty(maskMessages((await client.json<NodeletEvents>("/nodelet/events")).items))],
    ["images.json", async () => client.text("/nodelet/images")],
    ["config.json", async () => maskText(await client.text("/configz?origin=1"))],
    ["metrics.txt", async () => client.text("/metrics")],
    ["stats.json", async () => client.text("/stats/summary")],
    ["machine.json", async () => pretty(await readMachine(await statusOf({ client }), client))],
    ["kubelet.log", async () => maskLog(await kubeletLog())],
  ];
  const files: ArchivedFile[] = [];
  for (const [part, read] of parts) files.push({ name: `${name}/${part}`, content: await bounded(read) });
  const archive = await promisify(gzip)(tar(files, now));
  const path = file ?? `${name}.tar.gz`;
  try {
    await writeFile(path, archive, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new CliError(EXIT.wrong, `cannot write ${path}: ${messageOf(error)}`, "name another file with --file");
  }
  write(`wrote ${path} (${bytes(archive.length)}): ${parts.map(([part]) => part).join(", ")}\n`);
  write("secrets are masked as far as they can be recognised: look through it before you give it away\n");
  return EXIT.fine;
}

/** A part that cannot be read has the reason in its place: the others matter the more. */
async function bounded(read: () => Promise<string>): Promise<string> {
  try {
    const text = await read();
    return text.length <= PART_BYTES ? text : `${text.slice(0, PART_BYTES)}\n(the rest is left out)\n`;
  } catch (error) {
    return `not available: ${messageOf(error)}\n`;
  }
}

async function kubeletLog(): Promise<string> {
  const args = ["--unit=kubelet", `--lines=${LOG_LINES}`, "--no-pager", "--output=short-iso"];
  const { stdout } = await promisify(execFile)("journalctl", args, { timeout: LOG_MS, maxBuffer: 4 * PART_BYTES });
  return stdout.slice(-PART_BYTES);
}

function pretty(data: unknown): string {
  return `${JSON.stringify(data, undefined, 1)}\n`;
}
