// One flexVolume driver: a program that is run once per command. Its process ends at a deadline, on abort, and when it
// prints too much.
// Invariant: a command that the driver called "Not supported" is not sent to it again.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { ProgramFailedError } from "../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../shared/io/exec/run-program.js";
import { VolumeError } from "../volume-error.js";
import { ANSWER_LIMIT, FlexNotSupportedError, readAnswer, type FlexAnswer, type FlexCapabilities } from "./answer.js";

/** Deadline of a driver's command; upstream sets none and waits for ever. */
const DEADLINE_MS = 120_000;

export type FlexCommand =
  | "init"
  | "getvolumename"
  | "attach"
  | "waitforattach"
  | "mountdevice"
  | "detach"
  | "unmountdevice"
  | "mount"
  | "unmount"
  | "expandfs";

export interface FlexCallOptions {
  signal?: AbortSignal;
  deadlineMs?: number;
}

export interface FlexProgram {
  /** "vendor/driver". */
  name: string;
  executable: string;
  clock: Pick<Clock, "after">;
}

export class FlexDriver {
  private readonly unsupported = new Set<FlexCommand>();

  private constructor(
    private readonly program: FlexProgram,
    readonly capabilities: FlexCapabilities,
  ) {}

  /** Asks the driver for its capabilities. @throws VolumeError, FlexNotSupportedError */
  static async init(program: FlexProgram): Promise<FlexDriver> {
    return new FlexDriver(program, (await run(program, "init", [], {})).capabilities);
  }

  get name(): string {
    return this.program.name;
  }

  /** @throws VolumeError, FlexNotSupportedError, or the signal's reason */
  async call(command: FlexCommand, args: readonly string[], options: FlexCallOptions): Promise<FlexAnswer> {
    if (this.unsupported.has(command)) throw new FlexNotSupportedError("Not supported");
    try {
      return await run(this.program, command, args, options);
    } catch (error) {
      if (error instanceof FlexNotSupportedError) this.unsupported.add(command);
      throw error;
    }
  }

  /** As `call`; undefined where the driver does not support the command. */
  async callIfSupported(
    command: FlexCommand,
    args: readonly string[],
    options: FlexCallOptions,
  ): Promise<FlexAnswer | undefined> {
    try {
      return await this.call(command, args, options);
    } catch (error) {
      if (error instanceof FlexNotSupportedError) return undefined;
      throw error;
    }
  }
}

async function run(
  { name, executable, clock }: FlexProgram,
  command: FlexCommand,
  args: readonly string[],
  { signal, deadlineMs = DEADLINE_MS }: FlexCallOptions,
): Promise<FlexAnswer> {
  let text: string;
  try {
    text = await runProgram({
      command: executable,
      args: [command, ...args],
      env: [],
      clock,
      deadlineMs,
      outputLimit: ANSWER_LIMIT,
      signal,
    });
  } catch (error) {
    if (!(error instanceof ProgramFailedError)) throw error;
    // A driver that fails says why on standard output. One that reports success and fails is a defect of the driver.
    if (error.stdout.trim() !== "") readAnswer(command, error.stdout);
    throw new VolumeError(`flexVolume driver ${name} (${executable} ${command}) ${error.message}`, { cause: error });
  }
  return readAnswer(command, text);
}
