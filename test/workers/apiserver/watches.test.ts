// What clients of watches that do not read may hold, each and all together, and what those get that read slowly.

import { deepEqual, equal, ok } from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { systemClock, type Clock } from "../../../src/shared/base/clock/clock.js";
import { MAX_BEHIND_BYTES, Watches } from "../../../src/workers/apiserver/doors/watches.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { Store } from "../../../src/workers/apiserver/store/store.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const MAPS = resourceNamed("configmaps");

/** A response whose client takes nothing. */
class Unread extends EventEmitter {
  writableLength = 0;
  readonly writableHighWaterMark = 16_384;
  destroyed = false;
  writeHead(): void {
    // Nothing is sent.
  }
  flushHeaders(): void {
    // Nothing is sent.
  }
  write(text: string): boolean {
    this.writableLength += text.length;
    return false;
  }
  end(): void {
    this.destroy();
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit("close");
  }
}

/** A response whose client takes the written bytes when the test wants it. */
class Slow extends Unread {
  readonly lines: { type: string; object: { metadata: { resourceVersion: string; annotations?: object } } }[] = [];
  override write(text: string): boolean {
    this.lines.push(JSON.parse(text) as (typeof this.lines)[number]);
    return super.write(text);
  }
  async take(): Promise<void> {
    this.writableLength = 0;
    this.emit("drain");
    await nextRound();
  }
}

interface Opened {
  store: Store;
  watches: Watches;
  open: <R extends Unread>(response: R, query: Record<string, string>) => R;
}

async function openWatches(t: TestContext, clock: Clock = systemClock): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), "watches-"));
  const store = await Store.open({ directory, resources: RESOURCES, log: { warn: () => undefined } });
  t.after(async () => {
    // It still writes files.
    await store.close();
    await rm(directory, { recursive: true });
  });
  const watches = new Watches({ store, clock, nodeName: "node-1", volumesDir: "" });
  t.after(() => watches.endAll());
  const open: Opened["open"] = (response, query) => {
    const asked = { resource: MAPS, namespace: "", query: new URLSearchParams({ watch: "1", ...query }) };
    void watches.serve(asked, { headers: {} } as IncomingMessage, response as unknown as ServerResponse);
    return response;
  };
  return { store, watches, open };
}

/** Writes a map of many bytes. */
async function fill(store: Store, name: string, kib = 700): Promise<void> {
  const head = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } };
  await store.change((tx) => tx.put(MAPS, { ...head, data: { value: "x".repeat(kib * 1024) } }));
}

test("clients that do not read lose their watches, and one that reads keeps it", async (t) => {
  const { store, watches } = await openWatches(t);
  const query = new URLSearchParams({ watch: "1", resourceVersion: String(store.revision) });
  const open = async (): Promise<Unread> => {
    const response = new Unread();
    const asked = { resource: MAPS, namespace: "", query };
    await watches.serve(asked, { headers: {} } as IncomingMessage, response as unknown as ServerResponse);
    return response;
  };
  const unread = await Promise.all(Array.from({ length: 40 }, open));
  const reading = await open();
  unread.push(...(await Promise.all(Array.from({ length: 40 }, open))));
  const held = (): number => unread.reduce((sum, one) => sum + (one.destroyed ? 0 : one.writableLength), 0);
  let most = 0;
  for (let round = 0; round < 20; round++) {
    await store.change((tx) =>
      tx.put(MAPS, {
        ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "large", namespace: "default" } },
        data: { value: `${round}${"x".repeat(256 * 1024)}` },
      }),
    );
    most = Math.max(most, held());
    for (const one of unread) ok(one.destroyed || one.writableLength <= MAX_BEHIND_BYTES);
    reading.writableLength = 0;
  }
  ok(most <= 33 * 1024 * 1024, `${most} bytes`);
  ok(unread.some(({ destroyed }) => destroyed));
  ok(!reading.destroyed);
  equal(watches.size, unread.filter(({ destroyed }) => !destroyed).length + 1);
});

test("a client that was away gets more missed changes than it may be behind, as fast as it takes them", async (t) => {
  const { store, open } = await openWatches(t);
  const from = store.revision;
  for (let count = 0; count < 9; count++) await fill(store, "large");
  const response = open(new Slow(), { resourceVersion: String(from) });
  await nextRound();
  for (let round = 0; round < 9; round++) {
    ok(response.writableLength < MAX_BEHIND_BYTES / 2);
    await response.take();
  }
  await fill(store, "last", 1);
  equal(response.lines.length, 10);
  ok(!response.destroyed);
});

test("a watch sends no bookmark before its client has read all earlier objects", async (t) => {
  const clock = new SteppedClock();
  const { store, open } = await openWatches(t, clock);
  for (const name of ["one", "two", "three"]) await fill(store, name);
  const begun = String(store.revision);
  const initial = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
  const response = open(new Slow(), initial);
  await nextRound();
  await fill(store, "four");
  clock.step(61_000);
  deepEqual(typesOf(response), ["ADDED"]);
  for (let round = 0; round < 4; round++) await response.take();
  deepEqual(typesOf(response), ["ADDED", "ADDED", "ADDED", "BOOKMARK", "ADDED"]);
  equal(response.lines[3]?.object.metadata.resourceVersion, begun);
  clock.step(60_000);
  equal(response.lines.at(-1)?.type, "BOOKMARK");
  equal(response.lines.at(-1)?.object.metadata.resourceVersion, String(store.revision));
});

test("a client that reads earlier objects more slowly than the history lasts has to list again", async (t) => {
  const { store, open } = await openWatches(t);
  for (const name of ["one", "two", "three"]) await fill(store, name);
  const response = open(new Slow(), { resourceVersion: "0" });
  await nextRound();
  for (let count = 0; count < 14; count++) await fill(store, "large");
  await response.take();
  deepEqual(typesOf(response), ["ADDED", "ERROR"]);
  ok(response.destroyed);
});

function typesOf({ lines }: Slow): string[] {
  return lines.map(({ type }) => type);
}
