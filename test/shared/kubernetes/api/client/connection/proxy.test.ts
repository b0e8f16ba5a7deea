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

/** An entry of NO_PROXY, and the servers that Go 1.27 reaches without the proxy. */
const EXEMPT: readonly (readonly [noProxy: string, servers: string])[] = [
  ["", ""],
  [
    "*",
    "a.b.c b.c ab.c 10.1.2.3 10.1.2.3:6443 b.c:6443 192.168.0.10 [2001:db8::1] [2001:db8::1]:6443 [::ffff:10.1.2.3] xn--bcher-kva.example",
  ],
  [
    "x,*",
    "a.b.c b.c ab.c 10.1.2.3 10.1.2.3:6443 b.c:6443 192.168.0.10 [2001:db8::1] [2001:db8::1]:6443 [::ffff:10.1.2.3] xn--bcher-kva.example",
  ],
  ["a.b.c", "a.b.c"],
  [".b.c", "a.b.c"],
  ["*.b.c", "a.b.c"],
  ["b.c", "a.b.c b.c b.c:6443"],
  ["c", "a.b.c b.c ab.c b.c:6443"],
  ["B.C", "a.b.c b.c b.c:6443"],
  [" b.c ", "a.b.c b.c b.c:6443"],
  [",,b.c", "a.b.c b.c b.c:6443"],
  ["a.b.c b.c", ""],
  ["b.c.", ""],
  ["..b.c", ""],
  ["*b.c", ""],
  ["b.*", ""],
  ["b.c:443", "a.b.c b.c"],
  ["b.c:6443", "b.c:6443"],
  [".b.c:6443", ""],
  ["*.b.c:6443", ""],
  ["b.c:", "a.b.c b.c b.c:6443"],
  ["b.c:https", ""],
  ["b.c:06443", ""],
  [":6443", ""],
  ["*:6443", ""],
  ["10.1.2.3", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["10.1.2.3/32", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["10.1.2.3:6443", "10.1.2.3:6443"],
  ["10.0.0.0/8", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["10.0.0.0/08", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["10.0.0.0/", ""],
  ["10.0.0.0/abc", ""],
  ["10.0.0.0/33", ""],
  ["10.0.0.0/0", "10.1.2.3 10.1.2.3:6443 192.168.0.10 [::ffff:10.1.2.3]"],
  ["::/0", "[2001:db8::1] [2001:db8::1]:6443"],
  ["10.*", ""],
  ["10.1.2", ""],
  ["010.1.2.3", ""],
  [".2.3", ""],
  ["10.1.2.3/255.0.0.0", ""],
  ["192.168.0.0/24,10.0.0.0/8", "10.1.2.3 10.1.2.3:6443 192.168.0.10 [::ffff:10.1.2.3]"],
  ["192.168.0.1/24", "192.168.0.10"],
  ["2001:db8::1", "[2001:db8::1] [2001:db8::1]:6443"],
  ["[2001:db8::1]", ""],
  ["[2001:db8::1]:6443", "[2001:db8::1]:6443"],
  ["2001:db8::/32", "[2001:db8::1] [2001:db8::1]:6443"],
  ["2001:db8::/129", ""],
  ["::ffff:10.1.2.3", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["::ffff:a00:0/104", "10.1.2.3 10.1.2.3:6443 [::ffff:10.1.2.3]"],
  ["::ffff:0:0/95", ""],
  ["bücher.example", "xn--bcher-kva.example"],
  [".bücher.example", ""],
  [".", ""],
  ["*.", ""],
  ["localhost", ""],
];
const SERVERS =
  "a.b.c b.c ab.c 10.1.2.3 10.1.2.3:6443 b.c:6443 192.168.0.10 [2001:db8::1] [2001:db8::1]:6443 [::ffff:10.1.2.3] xn--bcher-kva.example";

describe("NO_PROXY is read as Go reads it", () => {
  for (const [noProxy, servers] of EXEMPT) {
    it(`${JSON.stringify(noProxy)} spares ${servers === "" ? "none" : servers}`, () => {
      const env = { HTTPS_PROXY: "http://proxy.example:3128", NO_PROXY: noProxy };
      const spared = SERVERS.split(" ").filter(
        (host) => proxyFor(new URL(`https://${host}/`), undefined, env) === undefined,
      );
      equal(spared.join(" "), servers);
    });
  }

  it("only addresses of this machine are its own", () => {
    const env = { HTTPS_PROXY: "http://proxy.example:3128" };
    const own = [
      "127.0.0.1",
      "127.9.9.9",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "localhost",
      "127.foo.com",
      "[::2]",
      "localhost.example",
    ];
    const spared = own.filter((host) => proxyFor(new URL(`https://${host}/`), undefined, env) === undefined);
    deepEqual(spared, own.slice(0, 5));
  });

  it("a variable without a scheme that is no host and port counts as none", () => {
    const used = (value: string): string | undefined =>
      proxyFor(new URL("https://kube.example"), undefined, { HTTPS_PROXY: value })?.host;
    deepEqual(["::1", " p:1", "p:1", "[::1]:1"].map(used), [undefined, undefined, "p:1", "[::1]:1"]);
  });
});

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
