// The thread that reads manifests: its limits are faults of a text, and the next text gets another thread.

import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { ManifestReader } from "../../../src/cli/manifests/reader.js";
import { manifest } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const job = (text: string) => ({
  text: Uint8Array.from(Buffer.from(text)),
  ...{ nodeName: "node", preventAPIReferences: true, namespace: "default" },
});

test("a text that takes too long is refused, and the next one is read", async (t) => {
  const clock = new SteppedClock(1000);
  const reader = new ManifestReader(clock);
  t.after(() => reader.close());
  const late = reader.read(job(manifest("web")));
  clock.step(60_000);
  await rejects(late, /must be readable within 60 s/);
  const { documents } = await reader.read(job(manifest("web")));
  equal(documents[0]?.pods[0]?.name, "web");
});
