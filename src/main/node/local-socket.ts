// Unix sockets of gRPC services that programs on this node use, and the rate limit of their calls.

import { mkdir } from "node:fs/promises";
import type { Server } from "@grpc/grpc-js";
import type { BoundSocket } from "../../shared/io/net/private-socket.js";
import { bindGrpc } from "../../shared/kubernetes/plugins/bind-grpc.js";

/** Rejects when the socket can't be made. A socket that an earlier kubelet left is replaced. Only root may connect. */
export async function listenOnSocket(server: Server, directory: string, name: string): Promise<BoundSocket> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  return await bindGrpc(server, `${directory}/${name}`);
}
