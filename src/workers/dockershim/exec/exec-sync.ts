// ExecSync: one command in a running container, its output and its exit code.
// Invariant: the command ends with its timeout: docker has no request for that, so its process is killed; the output is
// bounded.

import { readFile } from "node:fs/promises";
import type { Duplex } from "node:stream";
import { Scope } from "../../../shared/base/abort/scope.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { Verbs } from "../call.js";
import { inspected } from "../engine/containers.js";
import { Fault } from "../fault.js";
import { FrameReader } from "../logs/frames.js";
import type { Shim } from "../shim.js";
import { exitCodeOf, makeExec, pidOf } from "./engine-exec.js";

/** Most bytes of standard output and of standard error each; the rest is read and dropped, as containerd does. */
const MAX_OUTPUT = 16 * 1024 * 1024 - 4096;

export function execVerbs(shim: Shim): Verbs<"execSync"> {
  return {
    async execSync({ containerId, cmd, timeout }, signal) {
      const { State } = await inspected(shim.engine, signal, containerId, "container");
      if (!State.Running) throw new Fault("UNKNOWN", `container ${containerId} is not running`);
      const exec = await makeExec(shim, containerId, { Cmd: cmd, AttachStdout: true, AttachStderr: true }, signal);
      const limitMs = Number(timeout) * 1000;
      using scope = new Scope(signal);
      if (limitMs > 0) scope.limit(shim.clock, limitMs, () => new Error("timed out"));
      const output = { stdout: new Output(), stderr: new Output() };
      try {
        const stream = await shim.engine.call(
          scope.signal,
          (_docker, abort) => exec.start({ hijack: true, stdin: false, abortSignal: abort }),
          Infinity,
        );
        await read(stream, output, scope.signal);
        const exitCode = await exitCodeOf(shim, exec, scope.signal);
        return { stdout: output.stdout.bytes(), stderr: output.stderr.bytes(), exitCode };
      } catch (error) {
        if (!scope.signal.aborted) throw error;
        // Also for a caller that gave up.
        await kill(containerId, await pidOf(shim, exec, new AbortController().signal));
        throw new Fault("DEADLINE_EXCEEDED", `command ${JSON.stringify(cmd.join(" "))} timed out`);
      }
    },
  };
}

/** Copies what it keeps: a list of parts of one byte each would take a hundred times the memory. @internal */
export class Output {
  private kept = Buffer.alloc(0);
  private size = 0;

  add(part: Buffer): void {
    const size = Math.min(this.size + part.length, MAX_OUTPUT);
    if (size > this.kept.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * this.kept.length), MAX_OUTPUT));
      this.kept.copy(grown, 0, 0, this.size);
      this.kept = grown;
    }
    this.size += part.copy(this.kept, this.size, 0, size - this.size);
  }

  /** Bytes that it holds in memory. */
  get held(): number {
    return this.kept.length;
  }

  bytes(): Buffer {
    return this.kept.subarray(0, this.size);
  }
}

/** Resolves when the stream ends, or the signal aborts. */
function read(stream: Duplex, output: Record<"stdout" | "stderr", Output>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const frames = new FrameReader({ onData: (name, part) => output[name].add(part) });
    const end = (): void => {
      signal.removeEventListener("abort", end);
      stream.destroy();
      resolve();
    };
    stream.on("data", (chunk: Buffer) => frames.push(chunk));
    stream
      .once("end", end)
      .once("close", end)
      .once("error", (error) => {
        signal.removeEventListener("abort", end);
        reject(error);
      });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** SIGKILL to the command, if the process is still one of the container's. */
async function kill(containerId: string, pid: number): Promise<void> {
  if (pid <= 0) return;
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  if (!cgroups.includes(containerId)) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
