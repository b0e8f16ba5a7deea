// Clients with rights on a tenant's pods, whose commands get input in the costliest frames of a WebSocket: of one byte,
// in fragments of one byte, and between pings. A client writes as fast as the connection takes it.

import { once } from "node:events";
import { ChannelSocket, clientFrame } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";
import { Visits } from "./visits.js";

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
  private readonly visits: Visits;

  /** @param paths of commands that read their input */
  constructor({ fixture, port }: HostileBench, paths: readonly string[], count: number) {
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    const headers = { "Sec-WebSocket-Protocol": "v5.channel.k8s.io" };
    this.visits = new Visits(count, async (index, signal) => {
      const url = `https://127.0.0.1:${port}${paths[index % paths.length] ?? "/"}`;
      const channels = await ChannelSocket.connect(url, { client, headers, signal });
      channels.onMessage = () => undefined;
      this.opened++;
      await this.flood(channels, BATCHES[index % BATCHES.length] ?? Buffer.alloc(0), signal);
      channels.close();
    });
  }

  stop(): Promise<void> {
    return this.visits.stop();
  }

  private async flood({ socket }: ChannelSocket, batch: Buffer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !socket.destroyed) {
      const isFull = !socket.write(batch);
      this.batches++;
      if (isFull) await once(socket, "drain", { signal });
    }
  }
}
