// Clients with rights on a tenant's pods, whose commands get input in the costliest frames of a WebSocket: of one byte,
// in fragments of one byte, and between pings. A client writes as fast as the connection takes it.

import { once } from "node:events";
import { sleep } from "../../tools/standalone/wait.js";
import { ChannelSocket, clientFrame } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";

const PAUSE_MS = 100;
/** Frames of one write. */
const BATCH = 4096;
const BYTE = Buffer.from([0, 0x78]);
const [TEXT_CONTINUED, BINARY, PING] = [0, 2, 9] as const;

const repeated = (frame: Buffer): Buffer => Buffer.concat(Array.from({ length: BATCH }, () => frame));
/** Fragments of one message: as many as the kubelet takes. */
const FRAGMENTS = Buffer.concat([
  clientFrame(BINARY, BYTE, { fin: false }),
  ...Array.from({ length: 100 }, () => clientFrame(TEXT_CONTINUED, BYTE.subarray(1), { fin: false })),
  clientFrame(TEXT_CONTINUED, BYTE.subarray(1)),
]);
const BATCHES = [
  repeated(clientFrame(BINARY, BYTE)),
  repeated(clientFrame(PING, BYTE)),
  Buffer.concat(Array.from({ length: 40 }, () => FRAGMENTS)),
];

export class FrameVisitors {
  /** Connections that were opened, and batches of frames that they took. */
  opened = 0;
  batches = 0;
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];

  /** @param paths of commands that read their input */
  constructor({ fixture, port }: HostileBench, paths: readonly string[], count: number) {
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    this.running = Array.from({ length: count }, (_, index) =>
      this.visit(`https://127.0.0.1:${port}${paths[index % paths.length] ?? "/"}`, client, index),
    );
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  private async visit(url: string, client: { cert: string; key: string }, index: number): Promise<void> {
    const { signal } = this.over;
    const headers = { "Sec-WebSocket-Protocol": "v5.channel.k8s.io" };
    while (!signal.aborted) {
      try {
        const channels = await ChannelSocket.connect(url, { client, headers, signal });
        channels.onMessage = () => undefined;
        this.opened++;
        await this.flood(channels, BATCHES[index % BATCHES.length] ?? Buffer.alloc(0));
        channels.close();
      } catch {
        // Refused, cut or over: the next one.
        await sleep(PAUSE_MS);
      }
    }
  }

  private async flood({ socket }: ChannelSocket, batch: Buffer): Promise<void> {
    const { signal } = this.over;
    while (!signal.aborted && !socket.destroyed) {
      const isFull = !socket.write(batch);
      this.batches++;
      if (isFull) await once(socket, "drain", { signal });
    }
  }
}
