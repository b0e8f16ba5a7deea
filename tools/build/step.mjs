// A slow step of a command: named when it begins, timed when it ends, and the beginning of its output only if it fails.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { CannotStart } from "./cannot-start.mjs";

const LINES_SHOWN = 25;
const TERMINAL_TICK_MS = 200;
const LOG_TICK_MS = 10_000;

/**
 * Runs a command in `cwd`. `read` returns for each line of its output what the command is at (note), and whether the
 * line is of no use when the command fails (noise).
 * @throws CannotStart
 */
export function step(cwd, name, command, args, read = () => ({})) {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const terminal = process.stderr.isTTY === true;
  let at = "";
  const shown = () => `  … ${name} ${seconds()}${at}`.slice(0, (process.stderr.columns ?? 80) - 1);
  process.stderr.write(terminal ? `  … ${name}` : `  … ${name}\n`);
  const timer = setInterval(
    () =>
      process.stderr.write(terminal ? `\r\u001b[K${shown()}` : `  … ${name}, still at it after ${seconds()}${at}\n`),
    terminal ? TERMINAL_TICK_MS : LOG_TICK_MS,
  );
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const { note, noise = false } = read(line);
        if (note !== undefined) at = `: ${note}`;
        if (!noise) output.push(line);
      });
    }
    child.on("error", (error) => reject(new CannotStart(`${name}: cannot run ${command}: ${error.message}`)));
    child.on("close", (status, signal) => {
      process.stderr.write(`${terminal ? "\r\u001b[K" : ""}  ${status === 0 ? "✓" : "✗"} ${name} (${seconds()})\n`);
      if (status === 0) return resolve();
      process.stderr.write(`${output.join("\n").trim().split("\n").slice(0, LINES_SHOWN).join("\n")}\n`);
      reject(new CannotStart(`${name} failed with ${signal ?? `status ${status}`}: see the lines above`));
    });
  }).finally(() => clearInterval(timer));
}
