// Authorised users beside the operator, each with one exec after the other in the normal pod; the runtime lies about
// theirs.

import { sleep } from "../../tools/standalone/wait.js";
import { ChannelSocket } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";
import { BYSTANDER } from "./bystander.js";

/** Deadline of one exec; one that hangs is left. */
const DEADLINE_MS = 3_000;

export class ExecVisitors {
  private readonly over = new AbortController();
  private readonly running: Promise<void>[];

  constructor({ fixture, port }: HostileBench, count: number) {
    const url = `https://127.0.0.1:${port}/exec/default/${BYSTANDER}/app?command=endless&output=1&error=1`;
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    this.running = Array.from({ length: count }, () => this.visit(url, client));
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
  }

  private async visit(url: string, client: { cert: string; key: string }): Promise<void> {
    while (!this.over.signal.aborted) {
      const signal = AbortSignal.any([this.over.signal, AbortSignal.timeout(DEADLINE_MS)]);
      try {
        const socket = await ChannelSocket.connect(url, { client, signal });
        await socket.until(() => false, DEADLINE_MS).catch(() => undefined);
        socket.close();
      } catch {
        // Refused, or too late: the next one.
        await sleep(100);
      }
    }
  }
}
