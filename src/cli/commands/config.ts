// nodelet config: the effective configuration with the origin of each value; --diff shows the values that differ from
// the defaults, from a file, or from the configuration of another kubelet.

import { readFile, stat } from "node:fs/promises";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { ConfigurationFacts, NodeletStatus } from "../../shared/contracts/nodelet.js";
import { differences, otherConfig, type Difference } from "../config-diff.js";
import { configLines, type ConfigLine, type Configz } from "../config-lines.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { print } from "../output/print.js";
import { table, wrap } from "../output/table.js";

/** Far above any configuration. */
const MAX_BYTES = 4 * 1024 * 1024;

/** `diff` true: against the defaults; a text: the file to compare with. */
export async function configCommand(
  context: Context,
  { diff = false }: { diff?: boolean | string },
): Promise<ExitCode> {
  const [{ kubeletconfig, origins }, { facts }] = await Promise.all([
    context.client.json<Configz>("/configz?origin=1"),
    context.client.json<NodeletStatus>("/nodelet/status"),
  ]);
  const note = noteOf(facts?.configuration);
  if (typeof diff === "string") return await diffCommand(context, kubeletconfig, diff);
  const lines = configLines(kubeletconfig, origins).filter(({ origin }) => !diff || origin !== "default");
  await print(context, diff ? lines : kubeletconfig, () => configText(context, lines, note));
  return EXIT.fine;
}

/** @internal */
export function configText({ columns }: Pick<Context, "columns">, lines: readonly ConfigLine[], note: string): string {
  const shownNote = note === "" ? "" : `\n${wrap(note, columns)}\n`;
  if (lines.length === 0) return `every value is the default\n${shownNote}`;
  const shown = table(
    [
      { title: "FIELD", text: ({ field }) => field },
      { title: "ORIGIN", text: ({ origin }) => origin },
      { title: "VALUE", text: ({ value }) => JSON.stringify(value) },
    ],
    lines,
    columns,
  );
  return `${shown}${shownNote}`;
}

/** Why these values are not the assigned configuration's; "" when they are. */
function noteOf(configuration: ConfigurationFacts | undefined): string {
  if (configuration?.error === undefined) return "";
  const { active, assigned, error } = configuration;
  return `This is the configuration of ${active}; assigned is ${assigned}: ${error}`;
}

/** Exits as diff(1): 1 when something differs. */
async function diffCommand(context: Context, here: Record<string, unknown>, file: string): Promise<ExitCode> {
  const { config, whole } = otherConfig(await textOf(file), file);
  const found = differences(here, config, whole);
  await print(context, found, () => diffText(context, found, file));
  return found.length === 0 ? EXIT.fine : EXIT.wrong;
}

async function textOf(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > MAX_BYTES)
      throw new CliError(EXIT.usage, `${file} is larger than ${MAX_BYTES} bytes`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${file} cannot be read: ${messageOf(error)}`);
  }
}

/** @internal */
export function diffText({ columns }: Pick<Context, "columns">, found: readonly Difference[], file: string): string {
  if (found.length === 0) return `no field differs from ${file}\n`;
  const shown = (value: unknown): string => (value === undefined ? "-" : JSON.stringify(value));
  return table(
    [
      { title: "FIELD", text: ({ field }) => field },
      { title: "THIS KUBELET", text: ({ here }) => shown(here) },
      { title: file, text: ({ there }) => shown(there) },
    ],
    found,
    columns,
  );
}
