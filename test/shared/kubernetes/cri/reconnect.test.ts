// The runtime may be absent, exit and return. Calls fail at once while it is away, and succeed at once when it is back.

import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { startFakeCri } from "../../../fake-cri/fake-cri.js";
import { until } from "../../../support/sources-kit.js";
import { clientOf, fastTimers, pair, podConfig, runPod, socketPath } from "./support.js";

// With a back-off before each attempt, 20 of them would take more than half an hour.
const FAST = { timeout: 120_000 };

test(
  "an absent socket: every call fails fast with a remedy; it works as soon as the socket is there",
  FAST,
  async (context) => {
    const path = await socketPath(context);
    const { client } = clientOf(context, `unix://${path}`);
    for (let attempt = 0; attempt < 20; attempt++) {
      await assert.rejects(client.version({}), (error) => {
        assert.ok(error instanceof CriUnavailableError);
        assert.match(error.message, /ENOENT.*check that the container runtime is running/);
        return true;
      });
    }
    const fake = await startFakeCri({ socketPath: path });
    context.after(() => fake.stop());
    await client.version({});
  },
);

test("a long outage with calls all along: the first call after it succeeds", async (context) => {
  const { client, fake } = await pair(context);
  const before = await runPod(client, "kept");
  await fake.stop();
  // Long enough for a channel of its own to be deep in its back-off (100 ms, growing 1.6 times each).
  const end = performance.now() + 1500;
  while (performance.now() < end) {
    await assert.rejects(client.version({}), CriUnavailableError);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await fake.start();
  // In its back-off a channel would refuse the call.
  await client.runPodSandbox({ config: podConfig("new") });
  assert.equal((await client.containerStatus({ containerId: before.containerId })).status?.id, before.containerId);
});

test("calls in flight fail as Unavailable when the runtime dies, unary and stream", async (context) => {
  const { client, fake } = await pair(context, { events: true });
  fake.failpoint("ListImages", "hang");
  const unary = assert.rejects(client.listImages({}), CriUnavailableError);
  const stream = assert.rejects(client.getContainerEvents({})[Symbol.asyncIterator]().next(), CriUnavailableError);
  await until("both arrive", () => fake.calls.length === 2);
  await fake.stop();
  await unary;
  await stream;
});

test("a panic of the runtime drops the call; the next one works", async (context) => {
  const { client, fake } = await pair(context);
  fake.failpoint("ListContainers", "1*panic");
  await assert.rejects(client.listContainers({}), CriUnavailableError);
  let works = false;
  for (const end = performance.now() + 60_000; !works && performance.now() < end;) {
    works = await client.listContainers({}).then(
      () => true,
      () => false,
    );
  }
  assert.ok(works);
});

test("a socket that accepts connections but never responds: Unavailable after the connect timeout, even without deadline", async (context) => {
  const path = await socketPath(context);
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => silent.listen(path, resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { client } = clientOf(context, `unix://${path}`, { clock: fastTimers(50) });
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(client.pullImage({ image: { image: "a:1" } }), (error) => {
      assert.ok(error instanceof CriUnavailableError);
      assert.match(error.message, /no response came within 5000 ms/);
      return true;
    });
  }
  assert.equal(sockets.size, 1, "no connection is leaked by failed calls");
});
