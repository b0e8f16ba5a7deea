// Asks CRI-O for its configuration: the running daemon prints all settings in effect; if none runs, its files have
// those that were set.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../shared/base/clock/clock.js";
import { readRegularText } from "../../shared/io/fs/regular-file.js";
import { findProgram } from "../machine/find-program.js";
import { toolOrNothing } from "../machine/tool.js";
import { readCrioConfig } from "./crio-config.js";
import type { RuntimeSettings } from "./runtime-settings.js";

const FOLDER = "/etc/crio";
const STATUS_MS = 10_000;

export async function findCrio(): Promise<RuntimeSettings> {
  const printed = await crioStatusConfig(STATUS_MS);
  return readCrioConfig(printed === undefined ? await crioFiles() : [printed]);
}

/** What `crio status config` prints, TOML; undefined: CRI-O does not run, or is older than the command. */
export async function crioStatusConfig(deadlineMs: number, signal?: AbortSignal): Promise<string | undefined> {
  const program = await findProgram("crio");
  if (program === undefined) return undefined;
  return toolOrNothing(program, ["status", "config"], { clock: systemClock, deadlineMs, signal });
}

/** crio.conf, then the drop-ins by name. A file that cannot be read says nothing. */
async function crioFiles(): Promise<string[]> {
  const folder = join(FOLDER, "crio.conf.d");
  const dropIns = (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name));
  const texts = [join(FOLDER, "crio.conf"), ...dropIns].map((file) => readRegularText(file).catch(() => ""));
  return Promise.all(texts);
}
