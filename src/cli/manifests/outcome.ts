// The outcome of a command for each of several manifests: all are tried, each is named, and one failure makes the exit
// code 1.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { print } from "../output/print.js";
import { printFailure, warn } from "../output/terminal.js";
import { faultText, type Fault } from "./read.js";

export interface Outcome {
  /** "pod/web"; a file for one that could not be read. */
  name: string;
  namespace?: string;
  /** "created"; absent: it failed. */
  result?: string;
  error?: string;
}

export class Outcomes {
  private readonly all: Outcome[] = [];
  private failed = false;

  constructor(
    private readonly context: Context,
    private readonly dryRun: boolean,
  ) {}

  /** Faults of texts: errors count as failures, warnings do not. */
  addFaults(faults: readonly Fault[]): void {
    for (const fault of faults) {
      const text = faultText(fault);
      if (fault.severity === "warning") warn(text);
      else this.fail({ name: fault.file }, text);
    }
  }

  /** Prints one line for people when `act` has ended. Rejects only when no kubelet responds. */
  async run(of: { namespace: string; name: string }, act: () => Promise<string>): Promise<boolean> {
    const named = { name: `pod/${of.name}`, namespace: of.namespace };
    try {
      const result = await act();
      this.all.push({ ...named, result });
      if (this.isForPeople()) this.context.write(`${named.name} ${result}${this.dryRun ? " (dry run)" : ""}\n`);
      return true;
    } catch (error) {
      if (error instanceof CliError && error.exitCode === EXIT.noKubelet) throw error;
      this.fail(named, `pod/${of.name} in namespace ${of.namespace}: ${errorText(error)}`, errorText(error));
      return false;
    }
  }

  fail(named: Pick<Outcome, "name" | "namespace">, line: string, error = line): void {
    this.failed = true;
    this.all.push({ ...named, error });
    printFailure(line);
  }

  /** The data for programs, and the exit code. */
  async end(): Promise<ExitCode> {
    if (!this.isForPeople()) await print(this.context, this.all, () => "");
    return this.failed ? EXIT.wrong : EXIT.fine;
  }

  private isForPeople(): boolean {
    return this.context.format === "table" || this.context.format === "wide";
  }
}

/** With what to do about it. */
export function errorText(error: unknown): string {
  const remedy = error instanceof CliError ? error.remedy : undefined;
  return remedy === undefined ? messageOf(error) : `${messageOf(error)}; ${remedy}`;
}
