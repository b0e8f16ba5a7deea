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

class Programs {
  private readonly byPath = new Map<string, Program>();

  install(path: string, program: Program): void {
    this.byPath.set(path, program);
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
