// Runs umount and rm. Both may hang or take long (an unreachable file server, a large tree). As child processes they
// block no thread of libuv's pool, which every file operation needs.

import { spawn } from "node:child_process";
import { ProgramError } from "./errors.js";

/** Upstream's limit for a volume operation, roughly. */
const TIMEOUT_MS = 120_000;
const OUTPUT_LIMIT = 4096;
const PROGRAM_ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Resolves when the program ended with 0. Aborting kills it. @throws ProgramError */
export function run(program: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const command = [program, ...args].join(" ");
    let output = "";
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: PROGRAM_ENVIRONMENT,
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      signal,
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, OUTPUT_LIMIT);
    });
    child.once("error", (error) => {
      reject(new ProgramError(command, error.message, ""));
    });
    child.once("close", (code, killedBy) => {
      if (code === 0) resolve();
      else
        reject(
          new ProgramError(
            command,
            code === null ? `killed by ${killedBy ?? "a signal"}` : `exit ${code}`,
            output.trim(),
          ),
        );
    });
  });
}

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** For programs whose exit status is a result. @throws ProgramError when the program cannot run, or is killed */
export function runReading(program: string, args: readonly string[], timeoutMs: number): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const command = [program, ...args].join(" ");
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: PROGRAM_ENVIRONMENT,
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const result = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        result[name] = (result[name] + text).slice(0, OUTPUT_LIMIT);
      });
    }
    child.once("error", (error) => reject(new ProgramError(command, error.message, "")));
    child.once("close", (code, killedBy) => {
      if (code === null) reject(new ProgramError(command, `killed by ${killedBy ?? "a signal"}`, result.stderr));
      else resolve({ code, ...result });
    });
  });
}
