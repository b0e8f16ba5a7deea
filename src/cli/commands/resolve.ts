// nodelet resolve: the stack of a log or of an issue, or a profile of V8, with positions in the sources instead of the
// bundle. It needs no kubelet.

import { createReadStream } from "node:fs";
import { text as textOf } from "node:stream/consumers";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { remark } from "../output/terminal.js";
import { Positions } from "../stacks/positions.js";
import { resolveProfile } from "../stacks/resolve-profile.js";
import { resolveText } from "../stacks/resolve-text.js";

export interface ResolveOptions {
  positions?: string;
}

/** @param file default, and "-": standard input */
export async function resolveCommand(
  { write }: Pick<Context, "write">,
  file = "-",
  { positions: path }: ResolveOptions = {},
): Promise<ExitCode> {
  const positions = await readPositions(path);
  const text = await readText(file);
  const find = positions.find.bind(positions);
  const { text: resolved, found, unknown } = resolveProfile(text, find) ?? resolveText(text, find);
  write(resolved);
  if (unknown > 0) {
    remark(`${unknown} positions are of another build: give the positions.json.gz of its package with --positions`);
  } else if (found === 0) remark("no position of nodelet's code is in this text");
  return found === 0 ? EXIT.wrong : EXIT.fine;
}

async function readPositions(path: string | undefined): Promise<Positions> {
  try {
    return await Positions.read(path);
  } catch (error) {
    const name = path ?? "positions.json.gz of this installation";
    throw new CliError(EXIT.wrong, `cannot read ${name}: ${messageOf(error)}`, "name another file with --positions");
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await textOf(file === "-" ? process.stdin : createReadStream(file));
  } catch (error) {
    throw new CliError(EXIT.wrong, `cannot read ${file}: ${messageOf(error)}`);
  }
}
