// exec and attach at the Engine: its hijacked connections, sizes of terminals, exit codes.

import { Duplex } from "node:stream";
import { request } from "../engine/engine.js";
import { exitCodeOf, makeExec } from "../exec/engine-exec.js";
import { Fault } from "../fault.js";
import type { Shim } from "../shim.js";
import type { CommandOptions } from "./command-streams.js";
import type { CommandStart } from "./run-command.js";
import type { TerminalSize } from "./terminal-size.js";

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
      const exec = await makeExec(
        shim,
        containerId,
        { Cmd: [...cmd], Tty: tty, AttachStdin: stdin, AttachStdout: stdout, AttachStderr: stderr },
        signal,
      );
      const stream = await engine.call(signal, (_docker, abort) =>
        exec.start({ ...request(abort, {}, { Detach: false, Tty: tty }), hijack: true }),
      );
      return {
        stream,
        tty,
        resize: (size) => sized(shim, (abort) => exec.resize(request(abort, inCharacters(size)))),
        exitCode: () => exitCodeOf(shim, exec, signal),
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
