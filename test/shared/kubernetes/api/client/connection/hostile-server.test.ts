// A server in the API server's place that has no certificate of the cluster: what it can make the client compute before
// the client has seen that.
// @promise Hostile tenants and clients: A server without the cluster's certificate makes the thread that connects to a
//   URL of manifests check 32 KiB of certificates at most, and the API client from its second connection on.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createSecureContext } from "node:tls";
import { fetchManifest } from "../../../../../../src/main/pods/sources/fetch-manifest.js";
import { systemClock } from "../../../../../../src/shared/base/clock/clock.js";
import { createApiClient } from "../../../../../../src/shared/kubernetes/api/client/client.js";
import { dial } from "../../../../../../src/shared/kubernetes/api/client/connection/dial.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { chainFlight, DHE_SUITES, offers } from "../../../../../support/hostile-tls.js";
import { keptLog } from "../client-kit.js";

const NO_TLS = Buffer.from("no TLS at all");

interface Hostile {
  server: URL;
  hello: Promise<Buffer>;
  /** The client has closed its connection. */
  closed: Promise<unknown>;
}

/** Sends `first` after the first bytes of each connection; the first `failures` ones have no handshake. */
async function hostile(t: TestContext, first: Buffer, failures = 0): Promise<Hostile> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const sent = sockets.size < failures ? NO_TLS : first;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(sent));
  });
  const connected = once(server, "connection") as Promise<[Socket]>;
  const hello = connected.then(async ([socket]) => {
    const [bytes] = (await once(socket, "data")) as [Buffer];
    return bytes;
  });
  const closed = connected.then(([socket]) => new Promise((resolve) => socket.on("close", resolve)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server: new URL(`https://127.0.0.1:${port}`), hello, closed };
}

const API_CLIENT = "the API client, after a handshake that failed,";
const CLIENTS: Readonly<Record<string, (server: URL) => Promise<unknown>>> = {
  [API_CLIENT]: async (server) => {
    const { log } = keptLog();
    const config = { origin: "kubeconfig", server: server.href, insecureSkipTlsVerify: true };
    const client = createApiClient({ config, clock: systemClock, log });
    try {
      await client.get(NODES, { name: "n" }).catch(() => undefined);
      return await client.get(NODES, { name: "n" });
    } finally {
      client.close();
    }
  },
  "the client of a proxy over TLS": (proxy) => {
    const server = new URL("https://kube.example");
    const trust = { isLost: false };
    const target = { server, proxy, context: createSecureContext(), tlsServerName: undefined, insecure: false, trust };
    const signal = new AbortController().signal;
    return dial({ ...target, onResolved: undefined }, ["http/1.1"], systemClock, signal);
  },
  "the client of staticPodURL": (server) => fetchManifest(server.href, {}, new AbortController().signal),
};

for (const [client, connect] of Object.entries(CLIENTS)) {
  test(`${client} gives no chain of 72 certificates to OpenSSL, and closes the connection`, async (t) => {
    const { server, closed } = await hostile(t, chainFlight(72), client === API_CLIENT ? 1 : 0);
    await assert.rejects(connect(server), /more than 32768 bytes before the end of the handshake/);
    await closed;
  });

  test(`${client} offers no group of the server's own choice`, async (t) => {
    const { server, hello } = await hostile(t, NO_TLS);
    await assert.rejects(connect(server));
    const { suites, groups } = offers(await hello);
    assert.ok(suites.length > 0 && groups.length > 0);
    assert.deepEqual(
      suites.filter((suite) => DHE_SUITES.includes(suite)),
      [],
    );
    assert.deepEqual(
      groups.filter((group) => group >= 0x0100 && group <= 0x01ff),
      [],
    );
  });
}
