// node:child_process of the simulated machine, which has few programs.

import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import { programs } from "../world/programs.js";

export class ChildProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly pid = undefined;
  exitCode: number | null = null;
  kill(): boolean {
    return false;
  }
  ref(): void {
    // Nothing runs.
  }
  unref(): void {
    // Nothing runs.
  }
}

export function spawn(file: string): ChildProcess {
  const child = new ChildProcess();
  if (programs.has(file)) {
    begin(child, file);
    return child;
  }
  kernel.post(kernel.current, () => {
    child.stdout.end();
    child.stderr.end();
    child.emit("error", Object.assign(new Error(`spawn ${file} ENOENT`), { code: "ENOENT", path: file }));
    child.emit("close", -2, null);
  });
  return child;
}

function begin(child: ChildProcess, file: string): void {
  let input = "";
  child.stdin.setEncoding("utf8").on("data", (text: string) => {
    input += text;
  });
  child.stdin.on("end", () =>
    programs.run(file, input, ({ exitCode, output }) => {
      child.exitCode = exitCode;
      child.stdout.end(output);
      child.stderr.end();
      child.stdout.once("close", () => child.emit("close", exitCode, null));
    }),
  );
}

export function execFile(file: string, ...rest: unknown[]): ChildProcess {
  const child = spawn(file);
  const done = rest.find((one) => typeof one === "function") as
    | ((error: unknown, out: string, err: string) => void)
    | undefined;
  child.on("error", (error) => done?.(error, "", ""));
  return child;
}

export const fork = spawn;
