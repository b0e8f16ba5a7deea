// A driver that hangs, prints garbage or megabytes, or fails: its process ends, and the error says what happened.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { FlexNotSupportedError } from "../../../../src/main/volumes/flex/answer.js";
import { FlexDriver } from "../../../../src/main/volumes/flex/driver.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { waitFor } from "../../../../tools/standalone/wait.js";
import { flexDriver, NOT_SUPPORTED, SUCCESS } from "../../../support/flex-driver.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { temporaryRoot } from "../temporary-root.js";

async function started(t: TestContext) {
  const root = await temporaryRoot(t);
  const script = await flexDriver(`${root}/drivers`, "test/one", `${root}/home`);
  const driver = await FlexDriver.init({ name: "test/one", executable: script.executable, clock: systemClock });
  return { root, script, driver };
}

test("A driver that hangs is killed with its children at the deadline", async (t) => {
  const { root, script } = await started(t);
  // The deadline comes when the driver has started its child, however slowly.
  const clock = new SteppedClock();
  const driver = await FlexDriver.init({ name: "test/one", executable: script.executable, clock });
  await script.answer("mount", `sleep 1000 & echo $! > '${root}/child'; wait`);
  const call = assert.rejects(
    driver.call("mount", ["/x", "{}"], { deadlineMs: 300 }),
    /test\/one .* gave no response within 0.3 s/,
  );
  const child = await waitFor(async () => Number(await readFile(`${root}/child`, "utf8")), { what: "the child" });
  clock.step(300);
  await call;
  await until("the child is gone", () => {
    try {
      process.kill(child, 0);
      return false;
    } catch {
      return true;
    }
  });
});

test("A driver that hangs is killed when its pod goes", async (t) => {
  const { script, driver } = await started(t);
  await script.answer("mount", "sleep 1000");
  const abort = new AbortController();
  const call = driver.call("mount", ["/x", "{}"], { signal: abort.signal });
  abort.abort(new Error("the pod is gone"));
  await assert.rejects(call, /the pod is gone/);
});

test("Garbage, megabytes and failures are errors with the driver's name", async (t) => {
  const { script, driver } = await started(t);
  for (const [answer, message] of [
    ["echo garbage", /output for mount is not JSON: "garbage/],
    ["head -c 3000000 /dev/zero | tr '\\0' x", /printed more than 65536 bytes, killed/],
    [
      `echo '{"status":"Failure","message":"no disk"}'; exit 1`,
      /mount command failed, status: Failure, reason: no disk/,
    ],
    ["echo broken >&2; exit 3", /test\/one .* mount\) failed with exit status 3: broken/],
    [`${SUCCESS}; exit 4`, /test\/one .* failed with exit status 4/],
    ["kill -9 $$", /was killed by SIGKILL/],
  ] as const) {
    await script.answer("mount", answer);
    await assert.rejects(driver.call("mount", ["/x", "{}"], {}), { name: "VolumeError", message }, answer);
  }
});

test("A command that is not supported is not sent again", async (t) => {
  const { script, driver } = await started(t);
  await script.answer("mount", NOT_SUPPORTED);
  for (let time = 0; time < 2; time++) await assert.rejects(driver.call("mount", [], {}), FlexNotSupportedError);
  assert.equal((await script.calls()).filter(([command]) => command === "mount").length, 1);
  assert.equal(await driver.callIfSupported("mount", [], {}), undefined);
});
