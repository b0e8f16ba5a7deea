// The RunPodSandbox call of a pod: its place in the queue, and the time that counts as its duration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import type { CallOptions } from "../../../../src/shared/kubernetes/cri/verbs.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { app, never, podOf, runtimeOn } from "./runtime-kit.js";

test("a critical pod's sandbox comes first, and the wait for a place does not count", async (t) => {
  for (const [priority, urgent] of [
    [2_000_000_000, true],
    [1000, false],
  ] as const) {
    const { runtime, client, clock } = await runtimeOn(t);
    const seen: (CallOptions | undefined)[] = [];
    const durations: number[] = [];
    runtime.cri = {
      ...client,
      runPodSandbox: async (request, options) => {
        seen.push(options);
        clock.step(5000); // the wait for a place
        options?.onSent?.();
        clock.step(200);
        return await client.runPodSandbox(request, { signal: never });
      },
    };
    const { metrics } = runtime;
    runtime.metrics = { ...metrics, sandboxRun: (durationMs) => durations.push(durationMs) };
    const doer = new Doer(runtime, podUid("uid-web"), () => undefined);
    await doer.execute(podOf(app(), { priority }), { kind: "create-sandbox", attempt: 0, reason: "" }, never);
    assert.deepEqual([seen.length, seen[0]?.urgent, durations], [1, urgent, [200]]);
  }
});
