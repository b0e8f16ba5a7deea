// --watch: runs a command again and again until the user ends it. On a terminal each result replaces the one before.

import { oneLine } from "../../shared/base/text/printable.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { clearScreen } from "./terminal.js";

const EVERY_MS = 2000;

/** With --watch a kubelet that restarts is waited for. */
export async function watched(
  context: Context,
  watch: boolean,
  show: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (!watch) return show(context);
  for (;;) {
    let text = "";
    try {
      await show({ ...context, write: (part) => (text += part) });
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === EXIT.usage) throw error;
      text = `${oneLine(error.message)}\n`;
    }
    clearScreen();
    context.write(text);
    await context.clock.sleep(EVERY_MS);
  }
}
