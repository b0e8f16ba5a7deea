// exec probes against a runtime that does not respond: a stopped probe's call is given up, not cancelled.
// @promise Probes and hooks: A cancelled exec probe does not delay the stop that cancelled it.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { containerIdOf } from "../../../src/shared/kubernetes/identifiers.js";
import { ProbeDeadline } from "../../../src/shared/node/probes/probe-deadline.js";
import { StallMeter } from "../../../src/shared/node/probes/stall-meter.js";
import { createLogger } from "../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { ExecProbes } from "../../../src/workers/prober/exec.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { startFakeCri, type FakeCri } from "../../fake-cri/fake-cri.js";
import { PATIENCE_MS } from "../../support/probe-kit.js";

const ACTION = { type: "exec" as const, command: ["true"] };

describe("an ExecSync without an answer", () => {
  let dir: string;
  let fake: FakeCri;
  let exec: ExecProbes;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-exec-"));
    fake = await startFakeCri({ socketPath: join(dir, "cri.sock") });
    exec = new ExecProbes({
      endpoint: fake.endpoint,
      runtimeRequestTimeoutMs: PATIENCE_MS,
      criChannel: "own",
      clock: systemClock,
      registry: new ThreadRegistry("prober"),
      log: createLogger({ thread: "prober", level: "silent" }),
    });
  });
  after(async () => {
    await exec.close();
    await fake.stop();
    await rm(dir, { recursive: true });
  });

  test("called off: the run ends at once, the runtime does not lose its caller", async () => {
    fake.failpoint("ExecSync", "hang");
    const off = new AbortController();
    using deadline = new ProbeDeadline(systemClock, new StallMeter(systemClock), PATIENCE_MS, off.signal);
    const run = assert.rejects(exec.run(ACTION, containerIdOf("c"), 1000, deadline), /no longer wanted/);
    await waitFor(() => calls().length === 1, { what: "the call", timeoutMs: PATIENCE_MS });
    off.abort(new Error("no longer wanted"));
    await run;
    // Over the same connection: had the first been cancelled, the runtime would know by the time it sees this one.
    using late = new ProbeDeadline(systemClock, new StallMeter(systemClock), 200, new AbortController().signal);
    await assert.rejects(exec.run(ACTION, containerIdOf("other"), 1000, late), { name: "OperatorError" });
    await waitFor(() => calls()[1]?.code === "CANCELLED", {
      what: "the one that is late to be cancelled",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(calls()[0]?.endedAt, undefined);
    fake.failpoint("ExecSync", "off");
    await waitFor(() => calls()[0]?.endedAt !== undefined, { what: "it to end by itself", timeoutMs: PATIENCE_MS });
    assert.notEqual(calls()[0]?.code, "CANCELLED");
  });

  test("a runtime's refusal has the words of every kubelet's events", async () => {
    fake.failpoint("ExecSync", "error(NOT_FOUND: no such container)");
    using deadline = new ProbeDeadline(
      systemClock,
      new StallMeter(systemClock),
      PATIENCE_MS,
      new AbortController().signal,
    );
    await assert.rejects(exec.run(ACTION, containerIdOf("c"), 1000, deadline), {
      message: /^rpc error: code = NotFound desc = .*no such container/,
    });
    fake.failpoint("ExecSync", "off");
  });

  function calls(): FakeCri["calls"] {
    return fake.calls.filter(({ verb }) => verb === "ExecSync");
  }
});
