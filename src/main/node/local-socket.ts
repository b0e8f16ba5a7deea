// Unix sockets of gRPC services that programs on this node use, and the rate limit of their calls.
import type { Server } from "@grpc/grpc-js";
import { mkdir } from "node:fs/promises";
import type { Clock } from "../../shared/clock/clock.js";
import type { BoundSocket } from "../../shared/net/private-socket.js";
import { bindGrpc } from "../../shared/plugins/bind-grpc.js";

/** Rejects when the socket can't be made. A socket that an earlier kubelet left is replaced. Only root may connect. */
export async function listenOnSocket(server: Server, directory: string, name: string): Promise<BoundSocket> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  return await bindGrpc(server, `${directory}/${name}`);
}

// Rate limit for calls to a service of this node: a token bucket. A monitoring agent that calls without pause must not
// delay the pods on the main thread.

/** Upstream's rate limit. */
const CALLS_PER_SECOND = 100;
const BURST = 10;

export class CallRate {
  private tokens = BURST;
  private filledAt: number;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {
    this.filledAt = clock.monotonic();
  }

  /** @returns false when the call is to be refused */
  allow(): boolean {
    const now = this.clock.monotonic();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.filledAt) / 1000) * CALLS_PER_SECOND);
    this.filledAt = now;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
