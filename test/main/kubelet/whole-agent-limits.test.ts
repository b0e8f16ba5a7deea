// Limits that are sums, through the whole agent: its threads, sources and ports as they are wired together.
// @promise Hostile tenants and clients: In the whole kubelet, manifests have limits together, and one user has a
//   share of port 10250.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import type { RunningAgent } from "../../../src/main/kubelet/agent.js";
import { freePort } from "../../support/free-port.js";
import { OneThreadWorld } from "../../support/one-thread/agent.js";
import { stepUntilSettled } from "../../support/one-thread/virtual-time.js";
import { manifest } from "../../support/sources-kit.js";
import { TestCA } from "../../support/test-ca.js";

const MIB = 2 ** 20;
/** Three of them fit. */
const LARGE = "# a comment in a manifest that somebody made large\n".repeat((9 * MIB) / 51);
const podsOf = (agent: RunningAgent): string[] => agent.pods().map(({ metadata }) => metadata.name);

test("the fourth manifest file of 9 MiB is refused until another one goes", async () => {
  await using world = await OneThreadWorld.open();
  const agent = await world.start();
  for (const name of ["a", "b", "c"]) {
    await world.writeManifest(name, LARGE + manifest(name));
    await world.until(`pod ${name}`, () => podsOf(agent).some((pod) => pod.startsWith(name)));
  }
  await world.writeManifest("d", LARGE + manifest("d"));
  const refused = (): boolean => world.kept.errors().some((line) => /d\.yaml.*32 MiB together/.test(line));
  await world.until("the refusal", refused);
  assert.equal(podsOf(agent).length, 3);
  await rm(join(world.manifests, "a.yaml"));
  await world.until("pod d", () => podsOf(agent).some((pod) => pod.startsWith("d")));
  await world.stop(agent);
});

test("a reply of staticPodURL beyond 10 MiB is refused, and a smaller one counts", async () => {
  let text = `${LARGE}${LARGE}${manifest("large")}`;
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const staticPodURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await using world = await OneThreadWorld.open({ config: { staticPodURL, httpCheckFrequency: "1s" } });
  const agent = await world.start();
  const complained = (): boolean => world.kept.lines.some(({ msg }) => msg.includes("larger than 10 MiB"));
  await world.until("the refusal", complained);
  assert.deepEqual(podsOf(agent), []);
  text = manifest("small");
  await world.until("the pod of the smaller reply", () => podsOf(agent).length === 1);
  await world.stop(agent);
  server.closeAllConnections();
  server.close();
});

test("the manifest API refuses what exceeds 32 MiB together, and keeps the rest", async () => {
  const socketOf = (folder: string): string => join(folder, "admin.sock");
  await using world = await OneThreadWorld.open({
    flags: (folder) => [`--admin-socket=${socketOf(folder)}`, "--manifest-api=socket"],
  });
  const agent = await world.start();
  await world.until("the admin socket", () => existsSync(socketOf(world.folder)));
  const post = (name: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const spec = { containers: [{ name: "main", image: "nodelet.local/busybox:1", args: ["x".repeat(9 * MIB)] }] };
      const body = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
      const headers = {
        host: "kubelet",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      };
      const asked = request(
        { socketPath: socketOf(world.folder), path: "/manifests/", method: "POST", headers },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  const codes: (number | undefined)[] = [];
  for (const name of ["a", "b", "c", "d"]) codes.push(await stepUntilSettled(world.clock, name, post(name)));
  assert.deepEqual(codes, [201, 201, 201, 403]);
  await world.until("three pods", () => podsOf(agent).length === 3);
  await world.stop(agent);
});

test("one user has 512 connections of port 10250, and another one is served", { timeout: 170_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "limits-"));
  const ca = await TestCA.create(folder);
  const port = await freePort();
  const own = await ca.issue("serving", { subject: "/CN=node", usage: "serverAuth", names: "IP:127.0.0.1" });
  await using world = await OneThreadWorld.open({
    config: {
      ...{ enableServer: true, port, address: "127.0.0.1", tlsCertFile: own.certFile, tlsPrivateKeyFile: own.keyFile },
      authentication: {
        anonymous: { enabled: false },
        x509: { clientCAFile: ca.pair.certFile },
        webhook: { enabled: false },
      },
      authorization: { mode: "AlwaysAllow" },
    },
  });
  const agent = await world.start();
  const [reader, operator] = [
    await ca.issue("reader", { subject: "/CN=reader" }),
    await ca.issue("operator", { subject: "/CN=operator" }),
  ];
  const sockets: TLSSocket[] = [];
  const ask = ({ cert, key }: { cert: string; key: string }): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port, cert, key, rejectUnauthorized: false });
      sockets.push(socket.on("error", () => resolve("error")));
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      socket.once("data", (part: Buffer) => resolve(part.toString("latin1").slice(9, 12)));
      socket.once("close", () => resolve("closed"));
    });
  let first = "error";
  while (first !== "200") first = await stepUntilSettled(world.clock, "the port to be open", ask(operator));
  const heads = new Map<string, number>();
  for (let round = 0; round < 33; round++) {
    const asked = Promise.all(Array.from({ length: 16 }, () => ask(reader)));
    for (const head of await stepUntilSettled(world.clock, `round ${round}`, asked)) {
      heads.set(head, (heads.get(head) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(heads), { "200": 512, "429": 16 });
  assert.equal(await stepUntilSettled(world.clock, "the operator's request", ask(operator)), "200");
  for (const socket of sockets) socket.destroy();
  await world.stop(agent);
  await rm(folder, { recursive: true });
});
