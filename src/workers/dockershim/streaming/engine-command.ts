// exec and attach at the Engine: its hijacked connections, sizes of terminals, exit codes.
import { Duplex } from "node:stream";
import { request } from "../engine/engine.js";
import type { Shim } from "../shim.js";
import { Fault } from "../fault.js";
import type { CommandOptions } from "./command-streams.js";
import type { CommandStart } from "./run-command.js";
import type { TerminalSize } from "./terminal-size.js";

/** The Engine notices the end of a command a moment after the end of its output. */
const EXIT_TRIES = 50;
const EXIT_RETRY_MS = 100;

export function execCommand(
  shim: Shim,
  containerId: string,
  cmd: readonly string[],
  options: CommandOptions,
): CommandStart {
  const { stdin, stdout, stderr, tty } = options;
  const { engine } = shim;
  return {
    doing: "executing command in container",
    async start(signal) {
      const exec = await engine.call(signal, (docker, abortSignal) =>
        docker.getContainer(containerId).exec({
          ...{ Cmd: [...cmd], Tty: tty, abortSignal },
          ...{ AttachStdin: stdin, AttachStdout: stdout, AttachStderr: stderr },
        }),
      );
      const stream = await engine.call(signal, (_docker, abort) =>
        exec.start({ ...request(abort, {}, { Detach: false, Tty: tty }), hijack: true }),
      );
      return {
        stream,
        tty,
        resize: (size) => sized(shim, (abort) => exec.resize(request(abort, inCharacters(size)))),
        async exitCode() {
          for (let tries = 0; tries < EXIT_TRIES; tries++) {
            const { Running, ExitCode } = await engine.call(signal, (_docker, abort) =>
              exec.inspect({ abortSignal: abort }),
            );
            if (!Running) return ExitCode ?? 0;
            await shim.clock.sleep(EXIT_RETRY_MS, signal);
          }
          throw new Fault("UNKNOWN", "the Docker Engine does not report the end of the command");
        },
      };
    },
  };
}

/** @param tty whether the container has a terminal */
export function attachCommand(shim: Shim, containerId: string, options: CommandOptions, tty: boolean): CommandStart {
  const { stdin, stdout, stderr } = options;
  return {
    doing: "attaching to container",
    async start(signal) {
      const stream = await shim.engine.call(signal, (docker, abort) => {
        const query = { stream: true, stdin, stdout, stderr };
        return docker.getContainer(containerId).attach({ ...request(abort, query), hijack: true });
      });
      if (!(stream instanceof Duplex)) throw new Fault("UNKNOWN", "the Docker Engine did not switch to a stream");
      return {
        stream,
        tty,
        resize: (size) =>
          sized(shim, (abort) =>
            shim.engine.call(abort, (docker) =>
              docker.getContainer(containerId).resize(request(abort, inCharacters(size))),
            ),
          ),
        // Of the container, which its status shows.
        exitCode: () => Promise.resolve(0),
      };
    },
  };
}

function inCharacters({ width, height }: TerminalSize): Record<string, number> {
  return { w: width, h: height };
}

async function sized({ engine }: Shim, set: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  await engine.call(new AbortController().signal, (_docker, abort) => set(abort));
}
