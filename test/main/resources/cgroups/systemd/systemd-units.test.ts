// The conversation with systemd, against a manager on a private socket that fails, hangs and exits on command.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { SystemdCallError } from "../../../../../src/main/resources/cgroups/systemd/systemd-errors.js";
import type { UnitProperty } from "../../../../../src/main/resources/cgroups/systemd/systemd-properties.js";
import { systemdUnits, type SystemdUnits } from "../../../../../src/main/resources/cgroups/systemd/systemd-units.js";
import { systemClock, type Clock } from "../../../../../src/shared/base/clock/clock.js";
import { OperatorError } from "../../../../../src/shared/base/errors/operator-error.js";
import { FakeSystemd } from "../../../../support/fake-systemd.js";
import { silentLog } from "../../../../support/silent.js";
import { until } from "../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../support/stepped-clock.js";

const log = silentLog;
const AT_START: UnitProperty[] = [["DefaultDependencies", "b", false]];
const SETTABLE: UnitProperty[] = [
  ["CPUWeight", "t", 20n],
  ["MemoryMax", "t", (1n << 64n) - 1n],
];

let folder: string;
let systemd: FakeSystemd;
let units: SystemdUnits;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodelet-systemd-"));
  systemd = new FakeSystemd(join(folder, "private"));
  await systemd.listen();
  units = systemdUnits({ clock: systemClock, log, socketPath: systemd.socketPath });
});
afterEach(async () => {
  units.close();
  await systemd.die();
  await rm(folder, { recursive: true });
});

test("a slice starts with its properties, 64-bit numbers whole", async () => {
  await units.start("a.slice", AT_START, SETTABLE);
  assert.deepEqual(systemd.calls, ["StartTransientUnit a.slice"]);
  assert.deepEqual(
    [...(systemd.units.get("a.slice")?.properties ?? [])],
    [
      ["DefaultDependencies", false],
      ["CPUWeight", "20"],
      ["MemoryMax", "18446744073709551615"],
    ],
  );
});

test("a unit that exists gets the properties that can be set, and is started if it does not run", async () => {
  systemd.units.set("a.slice", { active: false, properties: new Map() });
  await units.start("a.slice", AT_START, SETTABLE);
  assert.deepEqual(systemd.calls, ["StartTransientUnit a.slice", "SetUnitProperties a.slice", "StartUnit a.slice"]);
  const unit = systemd.units.get("a.slice");
  assert.ok(unit?.active);
  assert.deepEqual([...unit.properties.keys()], ["CPUWeight", "MemoryMax"]);
});

test("many at once go over one connection", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `s${index}.slice`);
  await Promise.all(names.map((name) => units.start(name, AT_START, SETTABLE)));
  assert.equal(systemd.connections, 1);
  assert.equal(systemd.units.size, 50);
});

test("loaded and stopped units are distinguished; stopping a missing unit is no error", async () => {
  await units.start("a.slice", [], []);
  assert.equal(await units.isLoaded("a.slice"), true);
  await units.stop("a.slice");
  assert.equal(await units.isLoaded("a.slice"), false);
  await units.stop("a.slice");
});

test("a job that is complete before the reply is not waited for", async () => {
  systemd.plan("StartTransientUnit", { early: true });
  await units.start("a.slice", AT_START, SETTABLE);
});

for (const result of ["failed", "dependency", "canceled", "timeout"]) {
  test(`a job that ends with "${result}" is an error that names the unit`, async () => {
    systemd.plan("StartTransientUnit", { job: result });
    await assert.rejects(units.start("a.slice", AT_START, SETTABLE), (error: unknown) => {
      assert.ok(error instanceof OperatorError);
      assert.ok(error.message.includes(`StartTransientUnit of a.slice ended with "${result}"`), error.message);
      return true;
    });
  });
}

test("a refusal is reported with systemd's own words", async () => {
  systemd.plan("SetUnitProperties", { error: ["org.freedesktop.DBus.Error.PropertyReadOnly", "no such property"] });
  await assert.rejects(units.set("a.slice", SETTABLE), (error: unknown) => {
    assert.ok(error instanceof SystemdCallError);
    assert.equal(error.dbusName, "org.freedesktop.DBus.Error.PropertyReadOnly");
    assert.match(error.message, /SetUnitProperties of a\.slice: no such property/);
    return true;
  });
});

test("a job that never ends is given up at the deadline; the next operation works", async () => {
  const hasty = systemdUnits({ clock: systemClock, log, socketPath: systemd.socketPath, deadlineMs: 150 });
  systemd.plan("StopUnit", { job: "never" });
  systemd.units.set("a.slice", { active: true, properties: new Map() });
  await assert.rejects(hasty.stop("a.slice"), OperatorError);
  await hasty.stop("a.slice");
  assert.equal(systemd.units.size, 0);
  hasty.close();
});

for (const die of ["unanswered", "answered"] as const) {
  test(`a connection that dies with the call ${die} is made again and the call repeated`, async () => {
    systemd.plan("StartTransientUnit", { die });
    await units.start("a.slice", AT_START, SETTABLE);
    assert.equal(systemd.connections, 2);
    assert.ok(systemd.units.get("a.slice")?.active);
  });
}

test("systemd away for a while: the operation waits for it, with a back-off", async () => {
  await units.start("a.slice", AT_START, SETTABLE);
  await systemd.die();
  const { clock, slept } = sleepless(async () => {
    if (slept.length === 3) await systemd.listen();
  });
  const patient = systemdUnits({ clock, log, socketPath: systemd.socketPath });
  await patient.stop("a.slice");
  assert.deepEqual(slept, [50, 100, 200]);
  assert.equal(systemd.units.size, 0);
  await units.start("b.slice", AT_START, SETTABLE);
  patient.close();
});

test("no systemd: the error names the remedy, and the next operation tries again", async () => {
  await systemd.die();
  const { clock, slept } = sleepless();
  const alone = systemdUnits({ clock, log, socketPath: systemd.socketPath });
  await assert.rejects(alone.start("a.slice", [], []), (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /after 7 tries.*ENOENT.*is systemd process 1.*cgroupDriver: cgroupfs/s);
    return true;
  });
  assert.deepEqual(slept, [50, 100, 200, 400, 800, 1600]);
  await systemd.listen();
  await alone.start("a.slice", [], []);
  alone.close();
});

test("an idle connection is closed, and made again when needed", async () => {
  const clock = new SteppedClock();
  const quiet = systemdUnits({ clock, log, socketPath: systemd.socketPath });
  await quiet.start("a.slice", [], []);
  clock.step(10_000);
  await quiet.stop("a.slice");
  assert.equal(systemd.connections, 2);
  assert.equal(clock.pending, 1, "the deadlines are removed, the idle timer exists");
  quiet.close();
  assert.equal(clock.pending, 0, "no timer is left");
});

test("closing ends pending calls", async () => {
  systemd.plan("StartTransientUnit", { job: "never" });
  const started = assert.rejects(units.start("a.slice", [], []), /the kubelet closed the connection/);
  await until(() => systemd.count("StartTransientUnit") === 1);
  units.close();
  await started;
});

/** A clock whose sleeps are over at once, after `during`. */
function sleepless(during: () => Promise<void> = () => Promise.resolve()): { clock: Clock; slept: number[] } {
  const slept: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    slept.push(ms);
    return during();
  };
  return { clock: { ...systemClock, sleep }, slept };
}
