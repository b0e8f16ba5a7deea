// exec and attach: the streams of a client, joined with one of the Engine's hijacked connections.
// Invariant: the result comes last, after all output; a client that leaves ends the connection to the Engine, and the
// Engine's end is reported to the client; a slow side stops the other.

import { once } from "node:events";
import type { Duplex, Writable } from "node:stream";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { verbose, type Logger } from "../../../shared/telemetry/log/logger.js";
import { FrameReader, type StreamName } from "../logs/frames.js";
import type { ClientStream } from "./client-stream.js";
import { exitStatus, failureStatus } from "./command-status.js";
import type { CommandStreams } from "./command-streams.js";
import { readSizes, type TerminalSize } from "./terminal-size.js";

/** A command that runs in a container. */
interface RunningCommand {
  /** The Engine's connection: input, and output in frames, or plain with a terminal. */
  readonly stream: Duplex;
  readonly tty: boolean;
  resize(size: TerminalSize): Promise<void>;
  /** Asked after the output ended. */
  exitCode(): Promise<number>;
}

export interface CommandStart {
  /** For errors: "executing command in container". */
  readonly doing: string;
  /** @param signal aborts when the client leaves */
  start(signal: AbortSignal): Promise<RunningCommand>;
}

/** Resolves when the command has ended, or the client has left. Never rejects. */
export async function runCommand(client: CommandStreams, command: CommandStart, log: Logger): Promise<void> {
  const gone = new AbortController();
  client.error.once("close", () => gone.abort(new Error("the client disconnected")));
  if (client.error.destroyed) return;
  // Clients send nothing on it.
  client.error.resume();
  let result: string | undefined;
  try {
    result = exitStatus(await ended(client, await command.start(gone.signal), gone.signal, log), client.version);
  } catch (error) {
    result = failureStatus(command.doing, error, client.version);
  }
  await Promise.all([client.stdout, client.stderr].map(async (stream) => endOf(stream)));
  if (result !== undefined) client.error.write(result);
  client.close();
}

async function ended(client: CommandStreams, command: RunningCommand, gone: AbortSignal, log: Logger): Promise<number> {
  const { stream } = command;
  const leave = (): unknown => stream.destroy();
  if (gone.aborted) leave();
  gone.addEventListener("abort", leave, { once: true });
  try {
    input(client.stdin, stream);
    if (client.resize !== undefined) {
      readSizes(
        client.resize,
        (size) => command.resize(size),
        (error) => {
          verbose(log, 2)?.(`the size of a terminal was not set: ${messageOf(error)}`);
        },
      );
    }
    await output(client, command);
    gone.throwIfAborted();
    return await command.exitCode();
  } finally {
    gone.removeEventListener("abort", leave);
    stream.destroy();
  }
}

/** Its end closes the command's input and nothing else. What comes after the command ended is dropped. */
function input(stdin: ClientStream | undefined, stream: Duplex): void {
  if (stdin === undefined) return;
  stdin.pipe(stream);
  stream
    .on("error", () => undefined)
    .once("close", () => {
      stdin.unpipe(stream);
      stdin.resume();
    });
}

async function output(client: CommandStreams, { stream, tty }: RunningCommand): Promise<void> {
  let parts: [StreamName, Buffer][] = [];
  const frames = new FrameReader({ onData: (name, part) => parts.push([name, part]) });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (tty) parts.push(["stdout", chunk]);
    else frames.push(chunk);
    for (const [name, part] of parts) await written(client[name], part);
    parts = [];
  }
}

/** Resolves when more may be written, or the stream is closed. */
async function written(to: Writable | undefined, part: Buffer): Promise<void> {
  if (to === undefined || to.destroyed || to.write(part)) return;
  await drained(to);
}

async function drained(to: Writable): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([once(to, "drain", { signal }), once(to, "close", { signal })]);
  } finally {
    settled.abort();
  }
}

/** Resolves when all output is on its way. */
async function endOf(stream: ClientStream | undefined): Promise<void> {
  if (stream === undefined || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    stream.once("finish", resolve).once("close", resolve);
    stream.end();
  });
}
