// A gRPC server on a unix socket that only root reaches. Loading this file loads gRPC.

import { ServerCredentials, type Server } from "@grpc/grpc-js";
import { bindPrivately, type BoundSocket } from "../../io/net/private-socket.js";

/** The folder of `path` exists. A server that gets no socket is shut down. */
export async function bindGrpc(server: Server, path: string): Promise<BoundSocket> {
  try {
    return await bindPrivately(path, (temporary) => listen(server, temporary));
  } catch (error) {
    server.forceShutdown();
    throw error;
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
