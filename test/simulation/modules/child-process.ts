// node:child_process of the simulated machine, which has few programs.

import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import { programs, type Conversation } from "../world/programs.js";

export class ChildProcess extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly pid = undefined;
  exitCode: number | null = null;
  /** Ends the process; absent: it does not run. */
  end: (() => void) | undefined;
  kill(): boolean {
    this.end?.();
    return this.end !== undefined;
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
  const conversation = programs.conversation(file);
  if (conversation !== undefined) {
    converse(child, conversation);
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

/** Runs as the child's parent: the pipes end with it. */
function converse(child: ChildProcess, conversation: (process: Conversation) => void): void {
  const owner = kernel.current;
  const inputs = new Set<(text: string) => void>();
  const ends = new Set<() => void>();
  const end = (): void => kernel.post(kernel.world, () => ends.forEach((listener) => listener()));
  child.end = end;
  child.stdin.setEncoding("utf8").on("data", (text: string) => {
    kernel.post(kernel.world, () => inputs.forEach((listener) => listener(text)));
  });
  child.stdin.once("end", end);
  const takeBack = owner.onDeath(end);
  const exit = (code: number, problem: string): void => {
    takeBack();
    child.exitCode = code;
    child.stdout.once("close", () => child.emit("close", code, null));
    child.stderr.end(problem);
    child.stdout.end();
  };
  conversation({
    print: (text) => kernel.post(owner, () => void child.stdout.write(text)),
    exit: (code, problem) => kernel.post(owner, () => exit(code, problem)),
    onInput: (listener) => inputs.add(listener),
    onEnd: (listener) => ends.add(listener),
  });
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
