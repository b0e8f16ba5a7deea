// The times of a pod worker's passes, and the signal that ends the pass under way.

import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { PassSchedule } from "../../../../src/main/pods/sync/pass-schedule.js";
import { StoppingError } from "../../../../src/shared/base/abort/lifetime.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

describe("the signal of a pass", () => {
  const schedule = (): PassSchedule =>
    new PassSchedule({ clock: new SteppedClock(), retry: { rest: 0 }, resyncMs: 60_000, onTimer: () => undefined });

  test("as many calls as a pod has containers and volumes listen to it without a warning of Node", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    const { signal } = schedule();
    for (let call = 0; call < 200; call++) signal.addEventListener("abort", () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    deepEqual(warnings, []);
  });

  test("a stop aborts it, and each later one", () => {
    const passes = schedule();
    const { signal } = passes;
    passes.stop();
    ok(signal.aborted && signal.reason instanceof StoppingError);
    equal(schedule().signal.aborted, false);
    const stopped = schedule();
    stopped.stop();
    ok(stopped.signal.aborted);
  });
});
