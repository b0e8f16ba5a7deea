// Unix sockets of gRPC services that programs on this node use.
import { ServerCredentials, type Server } from "@grpc/grpc-js";
import { mkdir, rm } from "node:fs/promises";

/** Rejects when the socket can't be made. A socket that an earlier kubelet left is replaced. */
export async function listenOnSocket(server: Server, directory: string, name: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const socket = `${directory}/${name}`;
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}
