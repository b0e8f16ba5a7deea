#!/usr/bin/env -S node --max-semi-space-size=4
// Entry point: reads the command line, then runs what it asks for. Everything heavy is loaded only when it is needed.
import { readFileSync } from "node:fs";
import { isSettingsError } from "./command/errors.js";
import { loadSettings } from "./command/settings.js";

try {
  const request = await loadSettings(process.argv.slice(2), (path) => readFileSync(path, "utf8"));
  if (request.action === "print") process.stdout.write(request.text);
  else process.exitCode = await (await import("./startup/run.js")).run(request.settings);
} catch (error) {
  if (!isSettingsError(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
