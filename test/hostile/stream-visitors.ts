// Clients with rights on a tenant's pods, each with one endless stream after the other. A client reads a bounded part
// and then stops to read, as a terminal without a reader does.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { sleep } from "../../tools/standalone/wait.js";
import { ChannelSocket } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";

/** Bytes of one stream that a client reads. */
const READ_BYTES = 1024 * 1024;
/** How long a stream is held. */
const HOLD_MS = 3_000;
/** Before the next try after a refusal. */
const PAUSE_MS = 100;

interface Source {
  on(event: "data", listener: (part: Buffer) => void): unknown;
  pause(): unknown;
}

export class StreamVisitors {
  /** Streams that were opened, and bytes of them. */
  opened = 0;
  bytes = 0;
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];

  /** @param paths of the port, with their queries: /containerLogs is followed, others are upgraded */
  constructor({ fixture, port }: HostileBench, paths: readonly string[], count: number) {
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    const url = (index: number): string => `https://127.0.0.1:${port}${paths[index % paths.length] ?? "/"}`;
    this.running = Array.from({ length: count }, (_, index) => this.visit(url(index), client));
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  private async visit(url: string, client: { cert: string; key: string }): Promise<void> {
    const open = url.includes("/containerLogs/") ? followed : upgraded;
    while (!this.over.signal.aborted) {
      const signal = AbortSignal.any([this.over.signal, AbortSignal.timeout(HOLD_MS)]);
      try {
        const { source, close } = await open(url, client, signal);
        this.opened++;
        this.read(source);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        close();
      } catch {
        // Refused, or too late: the next one.
        await sleep(PAUSE_MS);
      }
    }
  }

  private read(source: Source): void {
    let read = 0;
    source.on("data", (part) => {
      this.bytes += part.length;
      read += part.length;
      if (read > READ_BYTES) source.pause();
    });
  }
}

interface Opened {
  source: Source;
  close: () => void;
}

async function upgraded(url: string, client: { cert: string; key: string }, signal: AbortSignal): Promise<Opened> {
  const channels = await ChannelSocket.connect(url, { client, signal });
  // The bytes are counted, not kept.
  channels.onMessage = () => undefined;
  return { source: channels.socket, close: () => channels.close() };
}

async function followed(url: string, client: { cert: string; key: string }, signal: AbortSignal): Promise<Opened> {
  const sent = request(url, { ...client, agent: false, rejectUnauthorized: false, signal }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => undefined);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`the log is answered ${response.statusCode ?? 0}`);
  }
  return { source: response, close: () => response.destroy() };
}
