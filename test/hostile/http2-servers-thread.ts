// Servers that agree on HTTP/2 by ALPN and then flood their client, one for each of HTTP2_FLOODS. Tenants' probes and
// hooks are their clients. Invariant: each connection sends a bounded number of bytes.

import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { flood } from "../support/flooding-server.js";
import { HTTP2_FLOODS } from "../support/hostile-http.js";
import type { Http2ServersData, Http2ServersReport } from "./http2-servers.js";

const report: Http2ServersReport = { ports: [], connections: 0 };
const { key, cert } = workerData as Http2ServersData;
const sockets = new Set<TLSSocket>();
const servers = Object.values(HTTP2_FLOODS).map((bytes) =>
  createServer({ key, cert, ALPNProtocols: ["h2"] }, (socket) => {
    if (socket.alpnProtocol === "h2") report.connections++;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    flood(socket, bytes);
  }),
);
const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
report.ports = await Promise.all(servers.map(listening));
parentPort?.postMessage(report);
parentPort?.once("message", () => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  parentPort?.postMessage(report);
});
