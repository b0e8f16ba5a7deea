import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import type { KeptManifest } from "../../../../src/shared/contracts/manifests.js";
import { ManifestWatches } from "../../../../src/workers/server/pods/manifests/watch.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** A client that takes no byte. */
class StuckResponse extends EventEmitter {
  destroyed = false;
  written = 0;
  writeHead(): void {}
  flushHeaders(): void {}
  end(): void {}
  write(): boolean {
    this.written++;
    return false;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

test("a watcher that takes nothing for 30 s is disconnected, and its place is free", async () => {
  const clock = new SteppedClock(1000);
  const text = { metadata: `{"name":"one"}`, spec: "{}" };
  const manifest: KeptManifest = { namespace: "default", name: "one", resourceVersion: "1", createdAt: 0, ...text };
  const watches = new ManifestWatches({
    pods: { get: () => undefined, onChange: () => () => undefined },
    list: () => Promise.resolve([manifest]),
    clock,
  });
  const responses = Array.from({ length: 64 }, () => new StuckResponse());
  const served = responses.map((one) => watches.serve(one as unknown as ServerResponse, undefined));
  await until("all are sent the first event", () => responses.every(({ written }) => written === 1));
  assert.equal(watches.full, true);
  clock.step(29_000);
  assert.equal(watches.full, true);
  clock.step(1000);
  await Promise.all(served);
  assert.deepEqual([watches.full, clock.pending], [false, 0]);
});
