// What clients of watches that do not read may hold, each and all together.

import { equal, ok } from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { MAX_BEHIND_BYTES, Watches } from "../../../src/workers/apiserver/doors/watches.js";
import { resourceNamed, RESOURCES } from "../../../src/workers/apiserver/objects/resources.js";
import { Store } from "../../../src/workers/apiserver/store/store.js";

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

test("clients that do not read lose their watches, and one that reads keeps it", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "watches-"));
  t.after(() => rm(directory, { recursive: true }));
  const store = await Store.open({ directory, resources: RESOURCES, log: { warn: () => undefined } });
  t.after(() => store.close());
  const watches = new Watches({ store, clock: systemClock, nodeName: "node-1", volumesDir: "" });
  t.after(() => watches.endAll());
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
