// The streaming server of the simulated runtime: Exec, Attach and PortForward make addresses, each for one request.

import { ContainerEventType, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../../fake-cri/fault.js";
import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import { closeEnd, readAll, type ConnectionEnd } from "./connection.js";
import { network } from "./network.js";
import { RuntimeStream } from "./runtime-stream.js";
import type { SimulatedRuntime } from "./runtime.js";
import type { StreamKind, StreamSession } from "./stream-session.js";

const ADDRESS = "127.0.0.1:10010";
const PROTOCOLS: Readonly<Record<StreamKind, string>> = {
  exec: "v4.channel.k8s.io",
  attach: "v4.channel.k8s.io",
  portForward: "portforward.k8s.io",
};
/** An address is valid for so long. */
const VALID_MS = 60_000;
const THINKS_MS = 20;

interface Asked {
  kind: StreamKind;
  /** Id of the container or the sandbox. */
  id: string;
  /** Streams that the client opens. */
  count: number;
}

export class StreamingServer {
  /** Hears of each call for an address. */
  readonly onCall = new Set<(kind: StreamKind, id: string, command: readonly string[]) => void>();
  private readonly tokens = new Map<string, Asked>();
  private readonly streams = new Set<RuntimeStream>();
  private readonly ends = new Set<ConnectionEnd>();
  private made = 0;

  constructor(
    private readonly runtime: SimulatedRuntime,
    private readonly random: Random,
    private readonly sessionOf: (number: number) => StreamSession | undefined,
  ) {
    runtime.settings.stream = (kind, request) => this.addressOf(kind, request);
    runtime.onDown.add(() => this.goAway());
    runtime.state.eventListeners.add(({ containerId, containerEventType: type }) => {
      if (type !== ContainerEventType.CONTAINER_STOPPED_EVENT) return;
      for (const stream of this.streams) stream.targetEnded(containerId);
    });
    network.serve(ADDRESS, (end) => {
      if (!runtime.isUp) return false;
      this.accept(end);
      return true;
    });
  }

  /** The process ends: so do its connections, and its addresses are known no more. */
  private goAway(): void {
    this.tokens.clear();
    for (const stream of this.streams) stream.breakOff();
    for (const end of this.ends) closeEnd(end);
    this.ends.clear();
  }

  private addressOf(kind: StreamKind, request: object): string {
    const { containerId, podSandboxId, cmd, ...options } = request as {
      containerId?: string;
      podSandboxId?: string;
      cmd?: string[];
      stdin?: boolean;
      stdout?: boolean;
      stderr?: boolean;
      tty?: boolean;
    };
    const id = containerId ?? podSandboxId ?? "";
    for (const listener of this.onCall) listener(kind, id, cmd ?? []);
    if (kind === "portForward" && this.runtime.state.sandboxes.get(id)?.status.state !== PodSandboxState.SANDBOX_READY)
      throw new Fault("UNKNOWN", `sandbox "${id}" is not running`);
    const token = `token-${++this.made}`;
    const { stdin, stdout, stderr, tty } = options;
    const count = 1 + [stdin, stdout, stderr, tty].filter((one) => one === true).length;
    this.tokens.set(token, { kind, id, count });
    kernel.after(kernel.world, VALID_MS, () => this.tokens.delete(token));
    return `http://${ADDRESS}/${kind}/${token}`;
  }

  private accept(end: ConnectionEnd): void {
    this.ends.add(end);
    let head = Buffer.alloc(0);
    readAll(end, 0, (received) => {
      if (typeof received === "string") {
        this.ends.delete(end);
        closeEnd(end);
        return false;
      }
      head = Buffer.concat([head, received]);
      const length = head.indexOf("\r\n\r\n");
      if (length < 0) return true;
      const text = head.toString("latin1", 0, length);
      kernel.after(kernel.world, this.random.between(0.2, THINKS_MS), () => {
        if (this.ends.delete(end)) this.answer(end, text, head.subarray(length + 4));
      });
      return false;
    });
  }

  private answer(end: ConnectionEnd, head: string, rest: Buffer): void {
    const token = /^POST \/\w+\/(\S+)/.exec(head)?.[1] ?? "";
    const session = this.sessionOf(Number(/^x-session: (\d+)/im.exec(head)?.[1]));
    const asked = this.tokens.get(token);
    this.tokens.delete(token);
    if (asked === undefined || session === undefined) {
      end.outgoing.write(Buffer.from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), done);
      end.outgoing.end("end");
      return;
    }
    if (/^(authorization|cookie):/im.test(head)) session.wrong ??= "the runtime gets the client's credentials";
    if (session.script.isSilent === true) {
      this.ends.add(end);
      readAll(end, 0, (received) => {
        if (typeof received === "string" && this.ends.delete(end)) closeEnd(end);
        return true;
      });
      return;
    }
    const fields = `Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${PROTOCOLS[asked.kind]}\r\n`;
    end.outgoing.write(Buffer.from(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${fields}\r\n`), done);
    const stream = new RuntimeStream(session, end, { ...asked, random: this.random }, () => {
      this.streams.delete(stream);
    });
    this.streams.add(stream);
    stream.start(rest);
    const { containers, sandboxes } = this.runtime.state;
    const isThere = asked.kind === "portForward" ? sandboxes.has(asked.id) : containers.has(asked.id);
    if (!isThere) stream.targetEnded(asked.id);
  }
}

function done(): void {
  // The connection takes a short text at once.
}
