// Runs umount and rm. Both may hang or take long (an unreachable file server, a large tree). As child processes they block no
// thread of libuv's pool, which every file operation needs.
import { spawn } from "node:child_process";
import { ProgramError } from "./errors.js";

/** Upstream gives a volume operation about this long. */
const TIMEOUT_MS = 120_000;
const OUTPUT_LIMIT = 4096;

/** Resolves when the program ended with 0. Aborting kills it. @throws ProgramError */
export function run(program: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const command = [program, ...args].join(" ");
    let output = "";
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      ...(signal === undefined ? {} : { signal }),
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
