import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCgroupDriver } from "../../../src/main/kubelet/cgroup-driver.js";
import {
  codeName,
  CriUnavailableError,
  CriUnimplementedError,
  type CriErrorInit,
} from "../../../src/shared/kubernetes/cri/errors.js";
import { CgroupDriver, RuntimeConfigResponse } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { silentLog } from "../../support/silent.js";
import { until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const log = silentLog;
const init: CriErrorInit = { code: codeName(14), verb: "RuntimeConfig", details: "away", endpoint: "unix:///x" };
const replying = (cgroupDriver: CgroupDriver): RuntimeConfigResponse =>
  RuntimeConfigResponse.fromPartial({ linux: { cgroupDriver } });

type Answer = () => Promise<RuntimeConfigResponse>;
const away: Answer = () => Promise.reject(new CriUnavailableError(init));

const ROWS: readonly [title: string, configured: "systemd" | "cgroupfs", answer: Answer, expected: string][] = [
  ["the runtime's word wins", "cgroupfs", () => Promise.resolve(replying(CgroupDriver.SYSTEMD)), "systemd"],
  ["the other way round", "systemd", () => Promise.resolve(replying(CgroupDriver.CGROUPFS)), "cgroupfs"],
  ["agreement", "systemd", () => Promise.resolve(replying(CgroupDriver.SYSTEMD)), "systemd"],
  ["a runtime without the call", "systemd", () => Promise.reject(new CriUnimplementedError(init)), "systemd"],
  ["a runtime without an answer", "systemd", () => Promise.resolve(RuntimeConfigResponse.fromPartial({})), "systemd"],
];

for (const [title, configured, answer, expected] of ROWS) {
  test(`cgroup driver: ${title}`, async () => {
    const clock = new SteppedClock();
    let missing = 0;
    const options = { clock, log, onCallMissing: () => (missing += 1) };
    assert.equal(await nodeCgroupDriver({ runtimeConfig: answer }, configured, options), expected);
    assert.equal(missing, title === "a runtime without the call" ? 1 : 0);
    assert.equal(clock.pending, 0);
  });
}

test("a runtime that does not respond delays the start until the deadline, no longer", async () => {
  const clock = new SteppedClock();
  let calls = 0;
  const runtimeConfig: Answer = () => {
    calls++;
    return away();
  };
  let driver: string | undefined;
  const chosen = nodeCgroupDriver({ runtimeConfig }, "systemd", { clock, log, deadlineMs: 1000 });
  void chosen.then((choice) => (driver = choice));
  for (let waited = 0; waited < 1000; waited += 200) {
    await until(() => clock.pending === 2);
    assert.equal(driver, undefined);
    clock.step(200);
  }
  assert.equal(await chosen, "systemd");
  assert.equal(calls, 5);
  assert.equal(clock.pending, 0);
});

test("the response of a runtime that starts meanwhile is used", async () => {
  const clock = new SteppedClock();
  const answers = [away, away, () => Promise.resolve(replying(CgroupDriver.SYSTEMD))];
  const runtimeConfig: Answer = () => (answers.shift() ?? away)();
  const chosen = nodeCgroupDriver({ runtimeConfig }, "cgroupfs", { clock, log });
  for (const left of [1, 1]) {
    await until(() => clock.pending === left + 1);
    clock.step(200);
  }
  assert.equal(await chosen, "systemd");
});
