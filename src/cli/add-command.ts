// What a command is added to: the program with its context, and what happens to the exit code.

import type { Command } from "commander";
import type { Context } from "./context.js";

export interface CommandDeps {
  program: Command;
  /** Makes a command of the program. */
  command: (usage: string, description: string) => Command;
  /** Makes a command that takes the namespace of a pod. */
  ofPods: (usage: string, description: string) => Command;
  context: () => Promise<Context>;
  /** Receives the exit code of the command that ran. */
  done: (code: number) => void;
}

/** Adds one command, or several, with arguments, options and action. */
export type AddCommand = (deps: CommandDeps) => void;
