// Programs of the simulated machine that the kubelet runs: each reads its standard input, and prints or fails some time
// later.

import { kernel } from "../kernel/kernel.js";

export interface Run {
  /** Milliseconds to its end. */
  ms: number;
  exitCode: number;
  /** What it prints on its standard output. */
  output: string;
}

/** Runs as the world. `input`: all of its standard input. */
type Program = (input: string) => Run;

/** A process that reads and prints while it runs. All of it runs as the world. */
export interface Conversation {
  print(text: string): void;
  exit(code: number, problem: string): void;
  onInput(listener: (text: string) => void): void;
  /** Its input has ended, or it was killed. */
  onEnd(listener: () => void): void;
}

class Programs {
  private readonly byPath = new Map<string, Program>();
  private readonly conversations = new Map<string, (process: Conversation) => void>();

  install(path: string, program: Program): void {
    this.byPath.set(path, program);
  }

  /** Installs a program that reads and prints while it runs. */
  converse(path: string, begin: (process: Conversation) => void): void {
    this.conversations.set(path, begin);
  }

  conversation(path: string): ((process: Conversation) => void) | undefined {
    return this.conversations.get(path);
  }

  has(path: string): boolean {
    return this.byPath.has(path);
  }

  /** `onEnd` runs as the present owner, if that lives so long. */
  run(path: string, input: string, onEnd: (run: Run) => void): void {
    const owner = kernel.current;
    kernel.post(kernel.world, () => {
      const run = this.byPath.get(path)?.(input) ?? { ms: 0, exitCode: 127, output: "" };
      kernel.after(kernel.world, run.ms, () => kernel.post(owner, () => onEnd(run)));
    });
  }
}

export const programs = new Programs();
