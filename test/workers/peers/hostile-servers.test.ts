// Hostile servers of pods, one for each way in which a peer can hold the thread of a client. The probe fails with a
// clear text, and the probe of another pod on the same thread succeeds.
// @promise Hostile tenants and clients: Servers that pods choose are read by the peers thread alone, within limits of
//   bytes, frames and processor time. A pod over its budget fails its own probes and hooks, no others.
// @with test/workers/peers/cpu-turns.test.ts, test/main/threads/peers-thread.test.ts

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { messageOf } from "../../../src/shared/base/errors/thrown.js";
import type { HttpHook } from "../../../src/shared/contracts/peers.js";
import type { ProbeAction } from "../../../src/shared/contracts/prober.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { BodyError } from "../../../src/workers/peers/pending-reply.js";
import { flood, floodingServer } from "../../support/flooding-server.js";
import { HTTP1_FLOODS, HTTP2_FLOODS } from "../../support/hostile-http.js";
import { chainFlight, DHE_SUITES, dheFlight, offers } from "../../support/hostile-tls.js";
import { listen, PATIENCE_MS, peerActions, runPeerProbe, selfSigned } from "../../support/probe-kit.js";

const http = (port: number, scheme: "http" | "https" = "http"): ProbeAction => ({
  ...{ type: "http", scheme, host: "127.0.0.1", port, path: "/", headers: [] },
});
const hook = (port: number, scheme: "http" | "https" = "https"): HttpHook => ({
  uid: podUid("u1"),
  action: { scheme, host: "127.0.0.1", port, path: "/", headers: [] },
  userAgent: "kube-lifecycle/1.36",
});
const hostile = (t: TestContext, bytes: Parameters<typeof floodingServer>[0]): Promise<number> =>
  listen(t, floodingServer(bytes).server);

async function assertAnotherPodIsServed(t: TestContext, actions: ReturnType<typeof peerActions>): Promise<void> {
  const port = await listen(
    t,
    createServer((_request, response) => response.end("well")),
  );
  const result = await runPeerProbe(http(port), PATIENCE_MS, { actions, uid: "u2" });
  assert.deepEqual(result, { outcome: "success", output: "well" });
}

describe("HTTP/1.1 floods", () => {
  for (const [name, bytes] of Object.entries(HTTP1_FLOODS)) {
    test(`a server that sends ${name} without end does not succeed`, async (t) => {
      const { server, sent } = floodingServer(bytes);
      const actions = peerActions();
      const port = await listen(t, server);
      const probe = runPeerProbe(http(port), PATIENCE_MS, { actions });
      // A broken body proves nothing about the container, and no head beyond our own limit.
      await assert.rejects(probe, BodyError);
      const reply = await actions.hook(hook(port, "http"), new AbortController().signal);
      // The head of a response is enough for a hook.
      if (bytes.first.includes("chunked")) assert.deepEqual(reply, { ok: true, fellBack: false });
      else assert.equal(reply.ok, false);
      // Twice the kernel's buffers at most, not as much as the server would send.
      assert.ok(sent() < 32 * 1024 * 1024, String(sent()));
      await assertAnotherPodIsServed(t, actions);
    });
  }

  test("a body of endless small chunks is read to 10 KiB", async (t) => {
    const first = Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const port = await hostile(t, { first, again: Buffer.from("1\r\nx\r\n".repeat(1000)) });
    const { outcome, output } = await runPeerProbe(http(port), PATIENCE_MS);
    assert.deepEqual([outcome, output], ["success", "x".repeat(10_240)]);
  });
});

describe("HTTP/2 floods of a gRPC server", () => {
  for (const [name, bytes] of Object.entries(HTTP2_FLOODS)) {
    test(`a server that sends ${name} without end fails the probe`, async (t) => {
      const actions = peerActions();
      const port = await hostile(t, bytes);
      const action = { type: "grpc", host: "127.0.0.1", port, service: "" } as const;
      const { outcome, output } = await runPeerProbe(action, PATIENCE_MS, { actions });
      assert.equal(outcome, "failure");
      assert.match(output, /^error: health rpc probe failed: /);
      await assertAnotherPodIsServed(t, actions);
    });
  }
});

describe("HTTP/2 floods of a server by TLS", () => {
  for (const [name, bytes] of Object.entries(HTTP2_FLOODS)) {
    test(`a server that sends ${name} without end fails the probe and the hook`, async (t) => {
      const actions = peerActions();
      const counts: (() => number)[] = [];
      const server = createTlsServer({ ...selfSigned(), ALPNProtocols: ["h2"] }, (socket) => {
        counts.push(flood(socket, bytes));
      });
      const port = await listen(t, server);
      const probe = runPeerProbe(http(port, "https"), PATIENCE_MS, { actions });
      // A flood after the head breaks the body, which proves nothing about the container; limits of frames do not
      // depend on the head.
      const { outcome, output } = await probe.catch((error: unknown) => ({
        outcome: "error",
        output: messageOf(error),
      }));
      assert.ok(outcome === "failure" || outcome === "error", outcome);
      assert.match(output, /HTTP\/2 frames|stream error|GOAWAY|unexpected EOF|headers exceeded|Protocol error/);
      const reply = await actions.hook(hook(port), new AbortController().signal);
      // The head of a response is enough for a hook, and it may arrive before the flood.
      if (name !== "empty DATA") assert.equal(reply.ok, false);
      const sent = counts.reduce((sum, count) => sum + count(), 0);
      assert.ok(sent < 32 * 1024 * 1024, String(sent));
      await assertAnotherPodIsServed(t, actions);
    });
  }
});

describe("TLS", () => {
  test("the client offers no finite-field Diffie-Hellman, neither suites nor groups", async (t) => {
    const hello = new Promise<Buffer>((resolve) => {
      const server = createTcpServer((socket) => {
        socket.once("data", (bytes) => {
          resolve(bytes);
          socket.destroy();
        });
      });
      void listen(t, server).then((port) => runPeerProbe(http(port, "https"), PATIENCE_MS));
    });
    const { suites, groups } = offers(await hello);
    assert.deepEqual(
      suites.filter((suite) => DHE_SUITES.includes(suite)),
      [],
    );
    assert.deepEqual(
      groups.filter((group) => group >= 0x100 && group < 0x200),
      [],
    );
    assert.ok(suites.length > 5 && groups.length >= 3);
  });

  test("a server that takes a group of 10,000 bits gets no handshake", async (t) => {
    const actions = peerActions();
    const port = await hostile(t, { first: dheFlight() });
    const { outcome, output } = await runPeerProbe(http(port, "https"), PATIENCE_MS, { actions });
    assert.equal(outcome, "failure");
    assert.match(output, /wrong cipher returned/i);
    const reply = await actions.hook(hook(port), new AbortController().signal);
    assert.ok(!reply.ok && /wrong cipher returned/i.test(reply.message));
  });

  test("a chain of 72 crafted certificates is not read", async (t) => {
    const actions = peerActions();
    const port = await hostile(t, { first: chainFlight(72) });
    const wanted = /tls: the server sent more than 32768 bytes before the end of the handshake$/;
    const { outcome, output } = await runPeerProbe(http(port, "https"), PATIENCE_MS, { actions });
    assert.equal(outcome, "failure");
    assert.match(output, wanted);
    const reply = await actions.hook(hook(port), new AbortController().signal);
    assert.ok(!reply.ok && wanted.test(reply.message));
    await assertAnotherPodIsServed(t, actions);
  });

  test("a pod whose server costs too much is over its budget; its hooks too, and no other pod", async (t) => {
    const actions = peerActions();
    // Just below the limit of bytes; the server then says nothing more, so each probe ends at its timeout.
    const { server } = floodingServer({ first: chainFlight(24), again: Buffer.from([21, 3, 3, 0, 2, 2, 40]) });
    const port = await listen(t, server);
    const texts: string[] = [];
    while (texts.length < 50 && !(texts.at(-1) ?? "").startsWith("probe not run")) {
      const { outcome, output } = await runPeerProbe(http(port, "https"), PATIENCE_MS, { actions });
      assert.equal(outcome, "failure");
      texts.push(output);
    }
    assert.match(
      texts.at(-1) ?? "",
      /^probe not run: the server of this pod used \d+\.\d s of processor time within 60 s beyond what its connections need; the limit is 0\.5 s$/,
    );
    assert.ok(texts.length > 1, "the first probe was run");
    const reply = await actions.hook(hook(port), new AbortController().signal);
    assert.ok(!reply.ok && reply.message.startsWith("hook not run: the server of this pod used"));
    const connections = once(server, "connection").then(() => "a connection");
    assert.equal(await Promise.race([connections, assertAnotherPodIsServed(t, actions)]), undefined);
  });
});
