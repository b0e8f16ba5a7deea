// The set-up drives system tools (apt-get, ip, tar, ctr); each call needs a deadline and an
// error that names the whole command and the last words of the tool.
// Invariant: no shell in between, so no argument is ever interpreted.

import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { PATIENCE } from "./wait.js";

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** A system tool ended with a status other than 0, could not be started, or ran out of time. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(
    readonly command: string,
    readonly status: string,
    readonly stderr: string,
  ) {
    super(`\`${command}\` failed (${status})${lastLine(stderr)}`);
  }
}

export function isCommandFailed(error: unknown): error is CommandFailed {
  return error instanceof CommandFailed;
}

export interface RunOptions {
  /** Added to this process's environment. */
  env?: Readonly<Record<string, string>>;
  /** Milliseconds until the tool is killed; 60 000 by default. */
  timeoutMs?: number;
  cwd?: string;
  /** Gets each line of stdout while the tool runs. */
  onLine?: (line: string) => void;
}

/** Runs a tool to its end and returns what it wrote to stdout. Throws {@link CommandFailed}. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      {
        env: { ...process.env, ...options.env },
        // Node takes whole milliseconds only.
        timeout: Math.ceil((options.timeoutMs ?? DEFAULT_TIMEOUT_MS) * PATIENCE),
        killSignal: "SIGKILL",
        maxBuffer: MAX_OUTPUT_BYTES,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new CommandFailed([command, ...args].join(" "), describe(error), stderr));
      },
    );
    if (options.onLine !== undefined && child.stdout !== null) {
      createInterface({ input: child.stdout }).on("line", options.onLine);
    }
  });
}

/** Administrators' directories are searched too: a root shell opened with `su` lacks them. */
function searchPath(): string[] {
  const own = (process.env["PATH"] ?? "").split(delimiter).filter((entry) => entry !== "");
  return [...new Set([...own, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])];
}

/** Puts {@link searchPath} into the environment, so that children find `iptables`, `ip` and `runc`. */
export function widenPath(): void {
  process.env["PATH"] = searchPath().join(delimiter);
}

/** Absolute path of an executable, or undefined when it is nowhere on the path. */
export async function findExecutable(name: string): Promise<string | undefined> {
  for (const directory of searchPath()) {
    const candidate = join(directory, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function describe(error: { code?: number | string | null; killed?: boolean; signal?: NodeJS.Signals | null }): string {
  if (error.killed === true) return "out of time";
  if (error.signal !== undefined && error.signal !== null) return error.signal;
  return typeof error.code === "number" ? `exit status ${error.code}` : (error.code ?? "unknown");
}

function lastLine(stderr: string): string {
  const line = stderr.trim().split("\n").at(-1)?.trim() ?? "";
  return line === "" ? "" : `: ${line}`;
}
