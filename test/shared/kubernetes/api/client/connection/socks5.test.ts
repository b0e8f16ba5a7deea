// A SOCKS5 proxy of a kubeconfig: the bytes that are sent to it, and what each of its replies makes of a request.

import { deepEqual, match, ok, rejects } from "node:assert/strict";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { ApiConnectionError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { sendJson } from "../../../../../support/api-server.js";
import { certFolder } from "../../../../../support/test-certs.js";
import { startRig } from "../client-kit.js";

interface Proxy {
  /** Each message that it got, in hexadecimal. */
  seen: string[];
  port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Replies in turn; after the last of them it is a tunnel to the target, or closes if there is none. */
async function startProxy(replies: readonly string[], target: () => number | undefined): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    const left = [...replies];
    socket.on("data", (bytes) => {
      seen.push(bytes.toString("hex"));
      // Byte by byte: a reader that counts on whole packets fails.
      for (const byte of Buffer.from(left.shift() ?? "", "hex")) socket.write(Buffer.from([byte]));
      if (left.length > 0) return;
      socket.removeAllListeners("data");
      const port = target();
      if (port === undefined) {
        socket.end();
        return;
      }
      const next = connect(port, "127.0.0.1", () => socket.pipe(next).pipe(socket));
      sockets.add(next);
      next.on("error", () => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CONNECTED = "05000001000000000000";

describe("a SOCKS5 proxy", () => {
  for (const [what, user, replies, first] of [
    ["without a user", "", ["0500", CONNECTED], ["050100"]],
    ["with a user", "me:the%20word@", ["0502", "0100", CONNECTED], ["05020002", "01026d65087468652" + "0776f7264"]],
    ["that wants no password", "me:x@", ["0500", "050000030161" + "0050"], ["05020002"]],
  ] as const) {
    it(`${what} tunnels TLS to the server`, async () => {
      const certs = await certFolder();
      try {
        const ca = await certs.ca("cluster");
        const pair = await ca.issue("/CN=kube");
        const onward: { port?: number } = {};
        await using proxy = await startProxy(replies, () => onward.port);
        await using rig = await startRig({
          protocol: "h2",
          pair,
          answer: (_seen, response) => sendJson(response, {}),
          config: { certificateAuthority: { data: ca.cert }, proxyUrl: `socks5://${user}127.0.0.1:${proxy.port}` },
        });
        onward.port = rig.server.port;
        await rig.client.get(NODES, { name: "a" });
        deepEqual(proxy.seen, [...first, `050100017f000001${rig.server.port.toString(16).padStart(4, "0")}`]);
      } finally {
        await certs.remove();
      }
    });
  }

  it("tunnels plain HTTP to the server", async () => {
    const onward: { port?: number } = {};
    await using proxy = await startProxy(["0500", CONNECTED], () => onward.port);
    await using rig = await startRig({
      protocol: "http",
      answer: (_seen, response) => sendJson(response, {}),
      config: { proxyUrl: `socks5://127.0.0.1:${proxy.port}` },
    });
    onward.port = rig.server.port;
    await rig.client.get(NODES, { name: "a" });
    await rig.client.get(NODES, { name: "b" });
  });

  for (const [replies, message, user = ""] of [
    [["0400"], /responded in version 4/],
    [["05ff"], /accepts none of the authentication methods/],
    [["0502"], /wants the authentication method 2/],
    [["0502", "0101"], /refused the user name and password/, "me:x@"],
    [["0502"], /needs a user's name/, ":x@"],
    [["0500", "05050001000000000000"], /opened no connection to 127\.0\.0\.1:\d+: connection refused/],
    [["0500", "05630001000000000000"], /: error 99/],
    [["0500", "0500000200"], /an address of the unknown type 2/],
    [["0500", "050000"], /closed the connection before there was a tunnel/],
    [[""], /closed the connection before there was a tunnel/],
  ] as const) {
    it(`that replies ${replies.join(" ")} is a failed connection: ${message.source}`, async () => {
      await using proxy = await startProxy(replies, () => undefined);
      await using rig = await startRig({
        protocol: "http",
        answer: (_seen, response) => sendJson(response, {}),
        config: { proxyUrl: `socks5://${user}127.0.0.1:${proxy.port}` },
      });
      await rejects(rig.client.get(NODES, { name: "a" }), (error: Error) => {
        ok(error instanceof ApiConnectionError);
        match(error.message, message);
        return true;
      });
    });
  }
});
