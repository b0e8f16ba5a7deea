// The cases that both channels pass, on grpc-js' own server and on one of node:http2 alone.

import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { Metadata } from "@grpc/grpc-js";
import { CHANNELS, MAX_MESSAGE_BYTES, TestClient, type ChannelName, type Outcome } from "./channels.js";
import { newSocket, SERVERS, startProxy, startServer, type Running } from "./servers.js";

interface World {
  context: TestContext;
  client: TestClient;
  server: Running;
  path: string;
  channel: ChannelName;
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function ok(outcome: Outcome): Buffer[] {
  assert.deepEqual([outcome.code, outcome.details], [0, ""]);
  return outcome.messages;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !condition();) {
    if (performance.now() > end) throw new Error(`gave up waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const CASES: Record<string, (world: World) => Promise<void>> = {
  "a message comes back": async ({ client }) => {
    assert.deepEqual(ok(await client.unary("/t.T/Echo", Buffer.from("hello"))), [Buffer.from("hello")]);
  },
  "an empty message comes back": async ({ client }) => {
    assert.deepEqual(ok(await client.unary("/t.T/Echo")), [Buffer.alloc(0)]);
  },
  "a response of 3 MiB arrives whole": async ({ client }) => {
    const [reply] = ok(await client.unary("/t.T/Bytes", number(3 * 1024 * 1024)));
    assert.deepEqual(reply, Buffer.alloc(3 * 1024 * 1024, "b"));
  },
  "a request of 5 MiB waits for the server's windows": async ({ client }) => {
    const [reply] = ok(await client.unary("/t.T/Length", Buffer.alloc(5 * 1024 * 1024)));
    assert.equal(String(reply), String(5 * 1024 * 1024));
  },
  "a response above the limit is RESOURCE_EXHAUSTED, and the next call works": async ({ client }) => {
    const { code, details } = await client.unary("/t.T/Bytes", number(MAX_MESSAGE_BYTES + 1));
    assert.equal(code, 8);
    assert.equal(details, `Received message larger than max (${MAX_MESSAGE_BYTES + 1} vs ${MAX_MESSAGE_BYTES})`);
    assert.equal(ok(await client.unary("/t.T/Bytes", number(MAX_MESSAGE_BYTES)))[0]?.length, MAX_MESSAGE_BYTES);
  },
  "a status, its text and its trailers arrive": async ({ client }) => {
    const { code, details, trailers } = await client.unary("/t.T/Fails");
    assert.deepEqual([code, details], [5, "not found: 100% – “é” 😀"]);
    assert.deepEqual(trailers.get("why"), ["because"]);
    assert.deepEqual(trailers.get("raw-bin"), [Buffer.from([1, 2, 255])]);
  },
  "the first fields arrive": async ({ client }) => {
    const outcome = await client.unary("/t.T/Headers");
    assert.deepEqual(ok(outcome), [Buffer.from("x")]);
    assert.deepEqual(outcome.headers?.get("first"), ["yes"]);
    assert.deepEqual(outcome.headers.get("first-bin"), [Buffer.from("é")]);
  },
  "the call's metadata reach the server": async ({ client }) => {
    const metadata = new Metadata();
    metadata.set("asked", "a value: with, everything");
    assert.equal(
      String(ok(await client.unary("/t.T/Metadata", undefined, { metadata }))[0]),
      "a value: with, everything",
    );
  },
  "an unknown method is UNIMPLEMENTED": async ({ client }) => {
    assert.equal((await client.unary("/t.T/Nothing")).code, 12);
  },
  "two hundred calls at once, and then one after the other, all return": async ({ client }) => {
    const texts = Array.from({ length: 200 }, (_, at) => `call ${at}`);
    const all = await Promise.all(texts.map((text) => client.unary("/t.T/Echo", Buffer.from(text))));
    assert.deepEqual(
      all.map((outcome) => String(ok(outcome)[0])),
      texts,
    );
    for (const text of texts) assert.equal(String(ok(await client.unary("/t.T/Echo", Buffer.from(text)))[0]), text);
  },
  "a call ends at its deadline, and the server hears of it": async ({ client, server }) => {
    const { code, details } = await client.unary("/t.T/Hangs", undefined, { deadlineMs: 300 });
    assert.equal(code, 4);
    // A server that keeps deadlines may say so first, without the time.
    assert.match(details, /^Deadline exceeded(?: after \d+\.\d{3}s|$)/);
    await until("the server hears of it", () => server.observed.cancelled === 1);
    assert.equal((await client.unary("/t.T/Echo")).code, 0);
  },
  "a deadline that has passed ends the call at once, and it is not sent": async ({ client, server }) => {
    assert.equal((await client.unary("/t.T/Echo", undefined, { deadlineMs: -5 })).code, 4);
    assert.equal(ok(await client.unary("/t.T/Echo")).length, 1);
    assert.equal(server.observed.calls, 1);
  },
  "a call that is cancelled before it is sent ends": async ({ client }) => {
    const { code, details } = await client.unary("/t.T/Hangs", undefined, { onCall: (call) => call.cancel() });
    assert.deepEqual([code, details], [1, "Cancelled on client"]);
  },
  "a call that is cancelled in flight ends, and the server hears of it": async ({ client, server }) => {
    let cancel = (): void => undefined;
    const ended = client.unary("/t.T/Hangs", undefined, { onCall: (call) => (cancel = () => call.cancel()) });
    await until("it arrives", () => server.observed.calls === 1);
    cancel();
    assert.equal((await ended).code, 1);
    await until("the server hears of it", () => server.observed.cancelled === 1);
  },
  "every message of a stream arrives, in its order": async ({ client }) => {
    const messages = ok(await client.stream("/t.T/Many", number(3000)));
    assert.deepEqual(
      messages.map(String),
      Array.from({ length: 3000 }, (_, at) => `message ${at}`),
    );
  },
  "a reader that pauses between messages gets all of a stream that is larger than the window": async ({ client }) => {
    const between = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
    const messages = ok(await client.stream("/t.T/Blocks", number(60), { between }));
    assert.deepEqual(
      messages.map((message) => [message.length, message[0], message.at(-1)]),
      Array.from({ length: 60 }, (_, at) => [100_000, at, at]),
    );
  },
  "the messages before a stream's failure do not hide it": async ({ client }) => {
    const { code, details } = await client.stream("/t.T/FailsLater");
    assert.deepEqual([code, details], [14, "later"]);
  },
  "a stream that the reader cancels ends, and the server hears of it": async ({ client, server }) => {
    const { code, messages } = await client.stream("/t.T/OneThenHangs", undefined, {
      onCall: (call, count) => {
        if (count === 1) call.cancel();
      },
    });
    assert.deepEqual([code, messages.map(String)], [1, ["one"]]);
    await until("the server hears of it", () => server.observed.cancelled === 1);
  },
  "a stream ends at its deadline": async ({ client }) => {
    assert.equal((await client.stream("/t.T/OneThenHangs", undefined, { deadlineMs: 500 })).code, 4);
  },
  "a runtime that is killed fails the calls in flight, and its successor gets the next ones": async (world) => {
    const { context, channel, server } = world;
    const path = await newSocket(context);
    const client = new TestClient(context, channel, path);
    const first = await startProxy(context, path, world.path);
    assert.equal((await client.unary("/t.T/Echo")).code, 0);
    const lost = client.unary("/t.T/Hangs");
    const lostStream = client.stream("/t.T/OneThenHangs");
    await until("both arrive", () => server.observed.calls === 3);
    await first.kill();
    assert.deepEqual([(await lost).code, (await lostStream).code], [14, 14]);
    const { code, details } = await client.unary("/t.T/Echo");
    assert.equal(code, 14);
    assert.match(details, /ENOENT|ECONNREFUSED/);
    await startProxy(context, path, world.path);
    const metadata = new Metadata({ waitForReady: true });
    assert.equal((await client.unary("/t.T/Echo", undefined, { metadata })).code, 0);
  },
  "closing the client fails the calls in flight": async ({ client, server }) => {
    const lost = client.unary("/t.T/Hangs", undefined, { deadlineMs: 2000 });
    await until("it arrives", () => server.observed.calls === 1);
    client.client.close();
    assert.ok([1, 4, 14].includes((await lost).code));
  },
};

for (const channel of CHANNELS) {
  for (const server of SERVERS) {
    describe(`the ${channel} channel and a server of ${server}`, () => {
      for (const [title, run] of Object.entries(CASES)) {
        test(title, { timeout: 120_000 }, async (context) => {
          const path = await newSocket(context);
          const running = await startServer(context, server, path);
          const client = new TestClient(context, channel, path);
          await run({ context, client, server: running, path, channel });
          assert.deepEqual(client.faults, []);
        });
      }
    });
  }

  describe(`the ${channel} channel without a server`, () => {
    test(
      "a call without waitForReady fails at once; one with it is sent when the server comes",
      { timeout: 60_000 },
      async (context) => {
        const path = await newSocket(context);
        const client = new TestClient(context, channel, path);
        const { code, details } = await client.unary("/t.T/Echo");
        assert.equal(code, 14);
        assert.match(details, /^No connection established\. Last error: .*ENOENT/);
        const waiting = client.unary("/t.T/Echo", Buffer.from("x"), { metadata: new Metadata({ waitForReady: true }) });
        await startServer(context, "grpc-js", path);
        assert.deepEqual(ok(await waiting), [Buffer.from("x")]);
      },
    );
    test("the client's waitForReady tells when the server is there", { timeout: 60_000 }, async (context) => {
      const path = await newSocket(context);
      const client = new TestClient(context, channel, path);
      const wait = (ms: number): Promise<Error | undefined> =>
        new Promise((resolve) => client.client.waitForReady(Date.now() + ms, resolve));
      assert.match(String(await wait(200)), /deadline/);
      await startServer(context, "grpc-js", path);
      assert.equal(await wait(20_000), undefined);
    });
  });
}
