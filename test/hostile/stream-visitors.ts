// Clients with rights on a tenant's pods, each with one endless stream after the other. A client reads a bounded part
// and then stops to read, as a terminal without a reader does.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { ChannelSocket } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";
import { Visits } from "./visits.js";

/** Bytes of one stream that a client reads. */
const READ_BYTES = 1024 * 1024;
/** How long a stream is held. */
const HOLD_MS = 3_000;

interface Source {
  on(event: "data", listener: (part: Buffer) => void): unknown;
  pause(): unknown;
}

export class StreamVisitors {
  /** Streams that were opened, and bytes of them. */
  opened = 0;
  bytes = 0;
  private readonly visits: Visits;

  /** @param paths of the port, with their queries: /containerLogs is followed, others are upgraded */
  constructor({ fixture, port }: HostileBench, paths: readonly string[], count: number) {
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    this.visits = new Visits(count, async (index, over) => {
      const url = `https://127.0.0.1:${port}${paths[index % paths.length] ?? "/"}`;
      const open = url.includes("/containerLogs/") ? followed : upgraded;
      const signal = AbortSignal.any([over, AbortSignal.timeout(HOLD_MS)]);
      const { source, close } = await open(url, client, signal);
      this.opened++;
      this.read(source);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      close();
    });
  }

  stop(): Promise<void> {
    return this.visits.stop();
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
