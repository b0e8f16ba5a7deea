// Streams of the status page: what a client gets, what a slow client costs, and that nothing works without clients.

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { PageUpdate } from "../../../../src/shared/contracts/status-page.js";
import { Feed } from "../../../../src/workers/server/page/feed.js";
import { LiveStream } from "../../../../src/workers/server/page/live-stream.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A round of the feed takes a few turns of the event loop. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await setImmediate();
}

/** The part of a response that a stream uses. */
class Client extends EventEmitter {
  readonly map = new Map<string, unknown>();
  written = "";
  destroyed = false;
  /** The connection takes no more bytes. */
  full = false;

  writeHead(): this {
    return this;
  }
  flushHeaders(): void {}
  write(text: string): boolean {
    this.written += text;
    for (const [, data = ""] of text.matchAll(/^data:(.*)$/gm)) {
      for (const [key, value] of JSON.parse(data) as PageUpdate) {
        if (value === null) this.map.delete(key);
        else this.map.set(key, value);
      }
    }
    return !this.full;
  }
  end(): void {
    this.destroy();
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function rig() {
  const clock = new SteppedClock();
  const state = new Map<string, string>();
  let reads = 0;
  const feed = new Feed(
    [
      {
        everyMs: 1000,
        read: () => {
          reads++;
          return new Map(state);
        },
      },
    ],
    clock,
  );
  let closed = 0;
  const connect = (client = new Client()): Client => {
    new LiveStream(client as unknown as ServerResponse, feed, clock, () => closed++);
    return client;
  };
  const second = async (seconds = 1): Promise<void> => {
    await turn();
    for (let passed = 0; passed < seconds; passed++) {
      clock.step(1000);
      await turn();
    }
  };
  return { clock, state, connect, second, reads: () => reads, closed: () => closed };
}

test("a client's map follows the feed: new, changed and removed entries", async () => {
  const { state, connect, second } = rig();
  state.set("a", "1").set("b", '{"x":"two\\nlines"}');
  const client = connect();
  await turn();
  assert.deepEqual(Object.fromEntries(client.map), { a: 1, b: { x: "two\nlines" } });
  state.set("a", "2").delete("b");
  await second();
  assert.deepEqual(Object.fromEntries(client.map), { a: 2 });
});

test("an unchanged entry is sent once", async () => {
  const { state, connect, second } = rig();
  state.set("a", "1");
  const client = connect();
  await second(5);
  assert.equal(client.written.match(/data:\[\[/g)?.length, 1);
});

test("a client gets a message within seven seconds, also while nothing changes", async () => {
  const { state, connect, second } = rig();
  state.set("a", "1");
  const client = connect();
  for (let spans = 0; spans < 4; spans++) {
    const before = client.written.length;
    await second(7);
    assert.ok(client.written.length > before, `span ${spans}`);
  }
  assert.deepEqual(Object.fromEntries(client.map), { a: 1 });
});

test("without a client nothing is read, and no timer is left", async () => {
  const { clock, connect, second, reads, closed } = rig();
  await second(3);
  assert.equal(reads(), 0);
  const [first, other] = [connect(), connect()];
  await second(2);
  first.destroy();
  const before = reads();
  await second(2);
  assert.ok(reads() > before, "the other client's feed continues");
  other.destroy();
  await turn();
  const after = reads();
  await second(3);
  assert.equal(reads(), after);
  assert.equal(closed(), 2);
  assert.equal(clock.pending, 0);
});

test("a slow client gets the newest state once it reads again, and nothing is queued for it", async () => {
  const { state, connect, second } = rig();
  state.set("a", "1");
  const client = new Client();
  client.full = true;
  connect(client);
  await second();
  const size = client.written.length;
  for (let version = 2; version < 9; version++) {
    state
      .set("a", String(version))
      .set(`k${version}`, "true")
      .delete(`k${version - 1}`);
    await second();
  }
  assert.equal(client.written.length, size);
  client.full = false;
  client.emit("drain");
  assert.deepEqual(Object.fromEntries(client.map), { a: 8, k8: true });
});

test("a client that reads nothing is disconnected, one that reads is not", async () => {
  const { state, connect, second, closed } = rig();
  state.set("a", "1");
  const [stuck, reader] = [new Client(), new Client()];
  stuck.full = true;
  connect(stuck);
  connect(reader);
  await second(35);
  assert.equal(stuck.destroyed, true);
  assert.equal(reader.destroyed, false);
  assert.equal(closed(), 1);
});

test("a stream ends after its longest time, so that rights are checked again", async () => {
  const { connect, second } = rig();
  const client = connect();
  await second(590);
  assert.equal(client.destroyed, false);
  await second(15);
  assert.equal(client.destroyed, true);
});

test("a big state is sent in several messages, and stops while the connection is full", async () => {
  const { state, connect } = rig();
  const big = JSON.stringify("x".repeat(50_000));
  for (let key = 0; key < 10; key++) state.set(`k${key}`, big);
  const client = new Client();
  client.full = true;
  connect(client);
  await turn();
  assert.ok(client.map.size < 5, `${client.map.size} entries at once`);
  client.full = false;
  client.emit("drain");
  assert.equal(client.map.size, 10);
});

test("a part whose reading fails leaves the client's state unchanged", async () => {
  const clock = new SteppedClock();
  let fails = false;
  const feed = new Feed(
    [
      {
        everyMs: 1000,
        read: () => (fails ? Promise.reject(new Error("the main thread hangs")) : new Map([["a", "1"]])),
      },
    ],
    clock,
  );
  const client = new Client();
  new LiveStream(client as unknown as ServerResponse, feed, clock, () => undefined);
  await turn();
  fails = true;
  clock.step(3000);
  await turn();
  assert.deepEqual(Object.fromEntries(client.map), { a: 1 });
});
