// Authorised users beside the operator, each with one exec after the other in the normal pod; the runtime lies about
// theirs.

import { ChannelSocket } from "../support/websocket.js";
import type { HostileBench } from "./bench.js";
import { BYSTANDER } from "./bystander.js";
import { Visits } from "./visits.js";

/** Deadline of one exec; one that hangs is left. */
const DEADLINE_MS = 3_000;

export class ExecVisitors {
  private readonly visits: Visits;

  constructor({ fixture, port }: HostileBench, count: number) {
    const url = `https://127.0.0.1:${port}/exec/default/${BYSTANDER}/app?command=endless&output=1&error=1`;
    const client = fixture.clientCertificate("visitor", ["system:masters"]);
    this.visits = new Visits(count, async (_, over) => {
      const signal = AbortSignal.any([over, AbortSignal.timeout(DEADLINE_MS)]);
      const socket = await ChannelSocket.connect(url, { client, signal });
      await socket.until(() => false, DEADLINE_MS).catch(() => undefined);
      socket.close();
    });
  }

  stop(): Promise<void> {
    return this.visits.stop();
  }
}
