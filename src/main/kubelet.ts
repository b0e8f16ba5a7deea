#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=4
// Entry point: reads the command line, then runs that command. Everything heavy is loaded only when it is needed.

import { loadSettings } from "./command/settings.js";
import { commandIo } from "./process/unix/command-io.js";
import { reportEarlyErrors } from "./process/unix/early-errors.js";

const argv = process.argv.slice(2);

async function main(): Promise<void> {
  const mayBeDynamic = argv.some((arg) => /^--dynamic[-_]config/.test(arg));
  const start = mayBeDynamic ? await (await import("./process/dynamic-start.js")).startDynamic(argv) : undefined;
  const request = await loadSettings(argv, start?.io ?? commandIo);
  if (request.action === "print") {
    (request.exitCode === 0 ? process.stdout : process.stderr).write(request.text);
    process.exitCode = request.exitCode;
  } else if (request.action === "check") {
    const { out, err, exitCode } = await (await import("./process/check-config/answer.js")).answerCheck(request);
    process.stderr.write(err);
    process.stdout.write(out);
    process.exitCode = exitCode;
  } else process.exitCode = await (await import("./process/run.js")).run(request.settings, start?.dynamic);
}

reportEarlyErrors();
// Not at the top level: the bundle's modules are functions. A rejection is an uncaught error.
void main();
