// Exec, Attach and PortForward: each answers with a URL on loopback. The server behind it is loaded with the first
// call.

import type { Verbs } from "../call.js";
import { inspected } from "../engine/containers.js";
import { Fault } from "../fault.js";
import type { Shim } from "../shim.js";
import type { CommandOptions } from "./command-streams.js";
import { attachCommand, execCommand } from "./engine-command.js";
import type { StreamingServer, StreamRequest } from "./streaming-server.js";

export class Streaming {
  private server: Promise<StreamingServer> | undefined;

  constructor(private readonly shim: Shim) {}

  async stop(): Promise<void> {
    await (await this.server)?.stop();
  }

  async urlOf(request: StreamRequest): Promise<{ url: string }> {
    const server = (this.server ??= this.load());
    return { url: await (await server).urlOf(request) };
  }

  verbs(): Verbs<"exec" | "attach" | "portForward"> {
    const { shim } = this;
    return {
      exec: async ({ containerId, cmd, ...given }, signal) => {
        const options = checkedOptions(given);
        if (cmd.length === 0) throw new Fault("INVALID_ARGUMENT", "exec without a command");
        await checkRuns(shim, containerId, signal);
        return this.urlOf({ kind: "exec", options, command: execCommand(shim, containerId, cmd, options) });
      },

      attach: async ({ containerId, ...given }, signal) => {
        const options = checkedOptions(given);
        const { Config } = await checkRuns(shim, containerId, signal);
        // The container's own terminal decides the form of its output.
        return this.urlOf({ kind: "attach", options, command: attachCommand(shim, containerId, options, Config.Tty) });
      },

      portForward: async ({ podSandboxId, port }, signal) => {
        await sandboxPid(shim, podSandboxId, signal);
        const connect = async (number: number) => {
          const { connectInNamespace } = await import("./netns-connect.js");
          const pid = await sandboxPid(shim, podSandboxId, new AbortController().signal);
          return connectInNamespace(`/proc/${pid}/ns/net`, number, shim.clock);
        };
        return this.urlOf({ kind: "portforward", ports: port, forwarding: { sandboxId: podSandboxId, connect } });
      },
    };
  }

  private async load(): Promise<StreamingServer> {
    const { StreamingServer: Server } = await import("./streaming-server.js");
    return new Server(this.shim);
  }
}

/** @throws Fault for options that upstream refuses, too */
function checkedOptions({ stdin, stdout, stderr, tty }: CommandOptions): CommandOptions {
  if (tty && stderr) throw new Fault("INVALID_ARGUMENT", "tty and stderr cannot both be true");
  if (!stdin && !stdout && !stderr) throw new Fault("INVALID_ARGUMENT", "one of stdin, stdout, or stderr must be set");
  return { stdin, stdout, stderr, tty };
}

async function checkRuns({ engine }: Shim, containerId: string, signal: AbortSignal) {
  const found = await inspected(engine, signal, containerId, "container");
  if (!found.State.Running) throw new Fault("UNKNOWN", `container not running (${containerId})`);
  return found;
}

async function sandboxPid({ engine }: Shim, sandboxId: string, signal: AbortSignal): Promise<number> {
  const { State } = await inspected(engine, signal, sandboxId, "podsandbox");
  if (!State.Running || State.Pid <= 0) throw new Fault("UNKNOWN", `sandbox not running (${sandboxId})`);
  return State.Pid;
}
