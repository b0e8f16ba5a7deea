import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { describe, it } from "node:test";
import { proxyFor } from "../../../../../../src/shared/kubernetes/api/client/connection/proxy.js";
import { ApiConnectionError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { sendJson } from "../../../../../support/api-server.js";
import { certFolder } from "../../../../../support/test-certs.js";
import { startRig } from "../client-kit.js";

/** A proxy that opens tunnels for those who know the word. */
async function startProxy() {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on("connect", ({ url = "", headers }, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    asked.push(url);
    if (headers["proxy-authorization"] !== `Basic ${Buffer.from("me:the word").toString("base64")}`) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const [host = "", port = ""] = url.split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward);
    onward.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a proxy", () => {
  it("tunnels the TLS connection, and reports a refusal", async () => {
    const certs = await certFolder();
    try {
      const ca = await certs.ca("cluster");
      const pair = await ca.issue("/CN=kube");
      await using proxy = await startProxy();
      const rigOf = (user: string) =>
        startRig({
          protocol: "h2",
          pair,
          answer: (_seen, response) => sendJson(response, {}),
          config: { certificateAuthority: { data: ca.cert }, proxyUrl: `http://${user}@127.0.0.1:${proxy.port}` },
        });
      await using rig = await rigOf("me:the%20word");
      await rig.client.get(NODES, { name: "a" });
      await rig.client.get(NODES, { name: "b" });
      deepEqual(proxy.asked, [`127.0.0.1:${rig.server.port}`]);
      equal(rig.server.seen[1]?.version, "2.0");
      await using refused = await rigOf("me:wrong");
      await rejects(refused.client.get(NODES, { name: "a" }), (error: Error) => {
        ok(error instanceof ApiConnectionError);
        match(error.message, /the proxy 127\.0\.0\.1:\d+ responded 407 to a CONNECT request for 127\.0\.0\.1:\d+/);
        return true;
      });
    } finally {
      await certs.remove();
    }
  });
});

describe("the environment's proxy", () => {
  const env = (NO_PROXY: string) => ({ HTTPS_PROXY: "proxy.example:3128", NO_PROXY });
  for (const [server, noProxy, isUsed] of [
    ["https://kube.example:6443", "", true],
    ["https://kube.example:6443", "*", false],
    ["https://kube.example:6443", "example", false],
    ["https://kube.example:6443", ".example", false],
    ["https://kube.example:6443", "*.example", false],
    ["https://kube.example:6443", "other.org, KUBE.example", false],
    ["https://kube.example:6443", "ube.example", true],
    ["https://kube.example:6443", "kube.example:6443", false],
    ["https://kube.example:6443", "kube.example:443", true],
    ["https://kube.example", "kube.example:443", false],
    ["https://example", ".example", true],
    ["https://10.1.2.3:6443", "10.1.0.0/16", false],
    ["https://10.1.2.3:6443", "10.2.0.0/16", true],
    ["https://10.1.2.3:6443", "10.1.2.3", false],
    ["https://10.1.2.3:6443", "2.3", true],
    ["https://[fd00::5]:6443", "fd00::/8", false],
    ["https://[fd00::5]:6443", "[fd00::5]:6443", false],
    ["https://[fd00::5]:6443", "10.0.0.0/8", true],
    ["https://localhost:6443", "", false],
    ["https://127.0.0.7:6443", "", false],
  ] as const) {
    it(`${isUsed ? "serves" : "spares"} ${server} with NO_PROXY="${noProxy}"`, () => {
      equal(
        proxyFor(new URL(server), undefined, env(noProxy))?.href,
        isUsed ? "http://proxy.example:3128/" : undefined,
      );
    });
  }

  it("is that of the scheme, and comes after the kubeconfig's", () => {
    equal(proxyFor(new URL("http://kube.example"), undefined, env("")), undefined);
    equal(proxyFor(new URL("http://kube.example"), undefined, { http_proxy: "http://p:1" })?.host, "p:1");
    equal(proxyFor(new URL("https://kube.example"), "http://own:2", env("*"))?.host, "own:2");
  });
});
