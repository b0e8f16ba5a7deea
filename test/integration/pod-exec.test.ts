// Into pods through the authenticated port, on a real runtime: exec, attach, port-forward, logs as they grow, the run
// before.
// @headline Server | exec, attach and port-forward work as upstream's. | SPDY, WebSocket v5
// @promise Docker Engine: exec, attach and port-forward on a Docker Engine are as on containerd: outputs, half-closed
//   input, terminal sizes, exit codes, tunnels (`NODELET_TEST_RUNTIME=docker`).
// @promise Server: exec, attach, port-forward, run, and logs of the current and the previous run, through the
//   authenticated port.
// @promise Server: exec and attach over WebSocket v5, port-forward through a tunnel: end of input, exit codes, terminal
//   sizes; messages up to 1 MiB in any fragments, back-pressure for slow sides, invalid data refused.
// @with test/workers/server/streams

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { SpdySession } from "../../src/workers/server/streams/spdy/session.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { secureAsk, secureOpen, waitSecure } from "../support/secure-ask.js";
import { IDLE, manifest, NODE_NAME, shell, statusOf, waitForPod } from "../support/static-pods.js";
import { ChannelSocket } from "../support/websocket.js";

const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];
const V5 = { "Sec-WebSocket-Protocol": "v5.channel.k8s.io" };
const PORT = 8080;
const GREETING = "hello from the pod\n";
/** Static pods carry the node's name. */
const POD = `web-${NODE_NAME}`;

let node: TestNode;
before(async () => {
  node = await startNode({ secure: true });
  const cat = { ...shell("cat", "echo here; exec cat"), stdin: true };
  const greeter = `nc -ll -p ${PORT} -e echo hello from the pod & ${IDLE}`;
  await Promise.all([
    node.writeManifest("web", manifest("web", [shell("app", IDLE), cat, shell("greeter", greeter)])),
    node.writeManifest("crasher", manifest("crasher", [shell("app", "echo my last words; exit 3")])),
  ]);
  const running = (name: string) => (pod: Parameters<typeof statusOf>[0]) =>
    statusOf(pod, name)?.state.running !== undefined;
  await waitForPod(node, "web", (pod) => ["app", "cat", "greeter"].every((name) => running(name)(pod)), "running");
  await waitSecure(node);
  // A container is running before its server listens.
  const greets = `/run/default/${POD}/greeter?cmd=nc+127.0.0.1+${PORT}`;
  await waitFor(async () => (await secureAsk(node, greets, "POST")).body === GREETING, { what: "the greeter" });
});
after(() => node.stop());

function open(path: string, headers: Record<string, string> = {}): Promise<ChannelSocket> {
  return ChannelSocket.connect(`${node.kubelet.secureUrl}${path}`, { headers });
}

test("the certificate is a self-signed one of this node", async () => {
  const ca = await readFile(join(node.kubelet.dir, "pki", "kubelet.crt"), "utf8");
  const port = Number(new URL(node.kubelet.secureUrl).port);
  const socket = connect({ host: "127.0.0.1", port, ca, servername: NODE_NAME });
  await once(socket, "secureConnect");
  assert.ok(socket.authorized);
  socket.destroy();
});

test("exec: output, errors and the exit code", async () => {
  const script = encodeURIComponent("echo out; echo err >&2; exit 7");
  const socket = await open(`/exec/default/${POD}/app?command=sh&command=-c&command=${script}&output=1&error=1`);
  await socket.until(() => socket.text(ERROR) !== "");
  assert.deepEqual([socket.text(STDOUT), socket.text(STDERR)], ["out\n", "err\n"]);
  const { status, details } = JSON.parse(socket.text(ERROR)) as { status: string; details: { causes: object[] } };
  assert.deepEqual([status, details.causes], ["Failure", [{ reason: "ExitCode", message: "7" }]]);
  await socket.until(() => socket.closed);
});

test("exec: input, in a terminal", async () => {
  const socket = await open(`/exec/default/${POD}/app?command=sh&input=1&output=1&tty=1`);
  socket.send(STDIN, "echo $((6 * 7)); test -t 0 && echo a terminal; exit\n");
  await socket.until(() => socket.closed);
  assert.match(socket.text(STDOUT), /\b42\r\n[^]*a terminal\r\n/);
});

test("exec over v5: the end of the input ends the command, megabytes later", async () => {
  const socket = await open(`/exec/default/${POD}/app?command=md5sum&input=1&output=1`, V5);
  const sent = Buffer.alloc(5_000_000, "what is said to a command\n");
  for (let at = 0; at < sent.length; at += 1_000_000) socket.send(STDIN, sent.subarray(at, at + 1_000_000));
  socket.end(STDIN);
  await socket.until(() => socket.closed);
  assert.equal(socket.text(STDOUT), `${createHash("md5").update(sent).digest("hex")}  -\n`);
  assert.deepEqual(JSON.parse(socket.text(ERROR)), { metadata: {}, status: "Success" });
  assert.equal(socket.closeCode, 1000);
});

test("exec over v5: megabytes of output, errors apart, then the exit code", async () => {
  const script = encodeURIComponent("head -c 8000000 /dev/zero; echo err >&2; exit 7");
  const socket = await open(`/exec/default/${POD}/app?command=sh&command=-c&command=${script}&output=1&error=1`, V5);
  await socket.until(() => socket.closed);
  assert.deepEqual([socket.text(STDOUT).length, socket.text(STDERR)], [8_000_000, "err\n"]);
  const { status, reason, details } = JSON.parse(socket.text(ERROR)) as Record<string, unknown>;
  const causes = [{ reason: "ExitCode", message: "7" }];
  assert.deepEqual([status, reason, details], ["Failure", "NonZeroExitCode", { causes }]);
});

test("exec over v5: a terminal takes the client's size", async () => {
  const socket = await open(`/exec/default/${POD}/app?command=sh&input=1&output=1&tty=1`, V5);
  socket.send(RESIZE, JSON.stringify({ Width: 123, Height: 45 }));
  // The size is set beside the input, not before it.
  socket.send(STDIN, "until stty size | grep '^45 123$'; do :; done; exit 3\n");
  await socket.until(() => socket.closed);
  assert.match(socket.text(STDOUT), /^45 123\r$/m);
  assert.match(socket.text(ERROR), /"message":"3"/);
});

test("attach over v5: to the running process, input and output", async () => {
  const socket = await open(`/attach/default/${POD}/cat?input=1&output=1`, V5);
  socket.send(STDIN, "said over v5\n");
  await socket.until(() => socket.text(STDOUT).includes("said over v5\n"));
  socket.close();
});

test("port-forward over v5: SPDY through a tunnel", async () => {
  const headers = { "Sec-WebSocket-Protocol": "SPDY/3.1+portforward.k8s.io" };
  const socket = await open(`/portForward/default/${POD}`, headers);
  assert.equal(socket.protocol, "SPDY/3.1+portforward.k8s.io");
  const stream = { port: String(PORT), requestid: "0" };
  let said = "";
  const session = new SpdySession(
    {
      writable: true,
      writableNeedDrain: false,
      cork: () => undefined,
      uncork: () => undefined,
      write: (part) => socket.write(2, part),
    },
    { onData: (_stream, part) => (said += part.toString()), onEnd: () => undefined, onGoAway: () => undefined },
  );
  socket.onMessage = (message) => session.push(message);
  session.end(session.open({ ...stream, streamtype: "error" }));
  session.open({ ...stream, streamtype: "data" });
  await socket.until(() => said === GREETING);
  socket.close();
});

test("attach: to the running process, input and output", async () => {
  const socket = await open(`/attach/default/${POD}/cat?input=1&output=1`);
  socket.send(STDIN, "said to the container\n");
  await socket.until(() => socket.text(STDOUT).includes("said to the container\n"));
  socket.close();
});

test("port-forward: to a port in the pod", async () => {
  const socket = await open(`/portForward/default/${POD}?port=${PORT}`);
  await socket.until(() => socket.text(0).length >= 2 + GREETING.length);
  // Each channel begins with the port it is of.
  assert.equal(Buffer.from(socket.text(0).slice(0, 2), "latin1").readUInt16LE(), PORT);
  assert.equal(socket.text(0).slice(2), GREETING);
  socket.close();
});

test("run: a command's output", async () => {
  const { status, body } = await secureAsk(node, `/run/default/${POD}/app?cmd=echo+one+two`, "POST");
  assert.deepEqual([status, body], [200, "one two\n"]);
});

test("runningpods: as the runtime has them", async () => {
  const { body } = await secureAsk(node, "/runningpods/");
  const { items } = JSON.parse(body) as {
    items: { metadata: { name: string }; spec: { containers: { name: string }[] } }[];
  };
  const web = items.find(({ metadata }) => metadata.name === POD);
  assert.deepEqual(web?.spec.containers.map(({ name }) => name).sort(), ["app", "cat", "greeter"]);
});

test("logs: followed, and of the run before", async () => {
  const response = await secureOpen(node, `/containerLogs/default/${POD}/cat?follow=1`);
  let text = "";
  response.setEncoding("utf8").on("data", (part: string) => (text += part));
  const socket = await open(`/attach/default/${POD}/cat?input=1`);
  socket.send(STDIN, "into the log\n");
  await waitFor(() => text.includes("here\n") && text.includes("into the log\n"), { what: "the line", intervalMs: 5 });
  response.destroy();
  socket.close();
  await waitForPod(node, "crasher", (pod) => (statusOf(pod, "app")?.restartCount ?? 0) > 0, "restarted");
  const previous = await secureAsk(node, `/containerLogs/default/crasher-${NODE_NAME}/app?previous=1`);
  assert.deepEqual([previous.status, previous.body], [200, "my last words\n"]);
});
