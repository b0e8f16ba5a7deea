// The health of DRA devices. A report counts until its timeout or its stream's end, and only changes are passed on.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  DEFAULT_TIMEOUT_MS,
  DeviceHealth,
  MAX_DEVICES,
  type DeviceReport,
} from "../../../../src/main/resources/dra/device-health.js";
import { decodeHealth, encodeHealth } from "../../../../src/main/resources/dra/health-file.js";
import { HealthStreams } from "../../../../src/main/resources/dra/health-streams.js";
import { PluginCallError, STATUS } from "../../../../src/shared/kubernetes/plugins/call-error.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const GPU = "gpu.example.com";

function report(device: string, change: Partial<DeviceReport> = {}): DeviceReport {
  return { pool: "p", device, health: "Healthy", message: "", timeoutMs: DEFAULT_TIMEOUT_MS, ...change };
}

function build() {
  const clock = new SteppedClock();
  const changes: string[] = [];
  const health = new DeviceHealth({
    clock,
    onChange: (driver, devices) => changes.push(`${driver}: ${devices.map(({ device }) => device).join()}`),
  });
  const of = (device: string) => health.of(GPU, { pool: "p", device }).health;
  return { clock, changes, health, of, stream: {} };
}

describe("the health of devices", () => {
  test("it is Unknown without a report, and as the newest report has it", () => {
    const { health, of, stream } = build();
    assert.equal(of("a"), "Unknown");
    health.report(GPU, [report("a")], stream);
    assert.equal(of("a"), "Healthy");
    health.report(GPU, [report("a", { health: "Unhealthy", message: "too hot" })], stream);
    assert.deepEqual(health.of(GPU, { pool: "p", device: "a" }).message, "too hot");
    assert.equal(health.of("other.example.com", { pool: "p", device: "a" }).health, "Unknown");
  });

  const SAME = report("a", { message: "fine" });
  for (const [what, change, changed] of [
    ["the same again", {}, false],
    ["another health", { health: "Unhealthy" }, true],
    ["another message", { message: "warm" }, true],
    ["another timeout", { timeoutMs: 1000 }, true],
  ] as const) {
    test(`a report with ${what} is ${changed ? "" : "not "}a change`, () => {
      const { health, changes, stream } = build();
      health.report(GPU, [SAME], stream);
      health.report(GPU, [{ ...SAME, ...change }], stream);
      assert.equal(changes.length, changed ? 2 : 1);
    });
  }

  test("after its timeout a device is Unknown, which is a change without a further report", () => {
    const { health, clock, changes, of, stream } = build();
    health.report(GPU, [report("a"), report("slow", { timeoutMs: 60_000 })], stream);
    clock.step(DEFAULT_TIMEOUT_MS - 1);
    assert.equal(of("a"), "Healthy");
    clock.step(1);
    assert.deepEqual([of("a"), of("slow")], ["Unknown", "Healthy"]);
    clock.step(30_000);
    assert.deepEqual([of("slow"), clock.pending], ["Unknown", 0]);
    assert.deepEqual(changes, [`${GPU}: a,slow`, `${GPU}: a`, `${GPU}: slow`]);
  });

  test("a device that a message leaves out keeps its report until the timeout", () => {
    const { health, clock, of, stream } = build();
    health.report(GPU, [report("a"), report("b")], stream);
    clock.step(20_000);
    health.report(GPU, [report("b")], stream);
    assert.equal(of("a"), "Healthy");
    clock.step(10_000);
    assert.deepEqual([of("a"), of("b")], ["Unknown", "Healthy"]);
  });

  test("the end of a stream makes its devices Unknown, unless another stream of the driver has reported since", () => {
    const { health, of, changes } = build();
    const [older, newer] = [{}, {}];
    health.report(GPU, [report("a")], older);
    health.report(GPU, [report("a")], newer);
    health.ended(GPU, older);
    assert.equal(of("a"), "Healthy");
    health.ended(GPU, newer);
    assert.equal(of("a"), "Unknown");
    assert.deepEqual(changes, [`${GPU}: a`, `${GPU}: a`]);
  });

  test("a plugin that reports more devices than the kubelet keeps is refused, and nothing of it is kept", () => {
    const { health, of, stream } = build();
    const many = Array.from({ length: MAX_DEVICES + 1 }, (_, index) => report(`d${index}`));
    assert.throws(() => health.report(GPU, many, stream), /more than 10000 devices/);
    assert.equal(of("d0"), "Unknown");
  });

  test("names that vary from message to message do not accumulate", () => {
    const { health, clock, stream } = build();
    for (let round = 0; round < 100; round++) {
      health.report(
        GPU,
        Array.from({ length: 1000 }, (_, index) => report(`d${round}-${index}`, { timeoutMs: 1000 })),
        stream,
      );
      clock.step(1000);
    }
    assert.equal(health.all().get(GPU)?.length, 0);
  });
});

describe("the checkpoint of the health", () => {
  test("the next kubelet has it until the timeout, and a newer report counts instead", () => {
    const { health, clock, stream } = build();
    health.report(GPU, [report("a", { health: "Unhealthy", message: "hot" })], stream);
    const file: unknown = JSON.parse(encodeHealth(health.all()));
    const next = build();
    next.clock.step(clock.now() - next.clock.now() + 10_000);
    next.health.restore(decodeHealth(file, next.clock.now()));
    assert.deepEqual(next.health.of(GPU, { pool: "p", device: "a" }).message, "hot");
    next.clock.step(20_000);
    assert.equal(next.of("a"), "Unknown");

    const third = build();
    third.health.report(GPU, [report("a")], {});
    third.health.restore(decodeHealth(file, third.clock.now()));
    assert.equal(third.of("a"), "Healthy");
  });

  test("it has upstream's form", () => {
    const { health, stream } = build();
    health.report(GPU, [report("a", { message: "fine" })], stream);
    const { [GPU]: driver } = JSON.parse(encodeHealth(health.all())) as Record<string, { Devices: object }>;
    const { LastUpdated, ...rest } = (driver?.Devices as Record<string, Record<string, unknown>>)["p/a"] ?? {};
    assert.match(String(LastUpdated), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(rest, {
      ...{ PoolName: "p", DeviceName: "a", Health: "Healthy", HealthCheckTimeout: 30_000_000_000, Message: "fine" },
    });
  });

  const device = { PoolName: "p", DeviceName: "a", Health: "Healthy", LastUpdated: "2026-01-01T00:00:00Z" };
  for (const [what, file] of [
    ["a list", []],
    ["a driver without an object", { [GPU]: 1 }],
    ["devices that are a list", { [GPU]: { Devices: [] } }],
    ["a device without a name", { [GPU]: { Devices: { "p/a": { ...device, DeviceName: 1 } } } }],
    ["a time that is none", { [GPU]: { Devices: { "p/a": { ...device, LastUpdated: "soon" } } } }],
    ["a timeout that is a text", { [GPU]: { Devices: { "p/a": { ...device, HealthCheckTimeout: "30s" } } } }],
  ] as const) {
    test(`refused: ${what}`, () => {
      assert.throws(() => decodeHealth(file, 0), /is not/);
    });
  }

  test("a time stamp of the future counts as now", () => {
    const file = { [GPU]: { Devices: { "p/a": { ...device, LastUpdated: "2999-01-01T00:00:00Z" } } } };
    const now = Date.parse("2026-06-01T00:00:00Z");
    assert.equal(decodeHealth(file, now).get(GPU)?.[0]?.reportedAt, now);
  });
});

describe("the streams of the plugins", () => {
  function streams() {
    const { clock, health, of } = build();
    return { clock, health, of, streams: new HealthStreams({ health, clock, log: keptLog().log }) };
  }
  const failed = (code: number) => new PluginCallError("NodeWatchResources", "/s", code, "no");

  test("a stream that ends or fails is opened again after 5 s, and its devices are Unknown meanwhile", async () => {
    const { clock, of, streams: open } = streams();
    const abort = new AbortController();
    const ends: ((error?: Error) => void)[] = [];
    const watchHealth = (onReports: (reports: readonly DeviceReport[]) => void): Promise<void> => {
      onReports([report("a")]);
      return new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))));
    };
    open.keepOpen(GPU, { watchHealth }, abort.signal);
    assert.equal(of("a"), "Healthy");
    for (const error of [undefined, failed(STATUS.UNAVAILABLE)]) {
      const opened = ends.length;
      ends.at(-1)?.(error);
      await until("the end of the stream", () => of("a") === "Unknown" && clock.pending > 0);
      clock.step(5000);
      await until("the next stream", () => ends.length === opened + 1);
      assert.equal(of("a"), "Healthy");
    }
    abort.abort();
    ends.at(-1)?.(failed(STATUS.CANCELLED));
    await open.settled();
  });

  test("a plugin without the service is called once", async () => {
    const { clock, streams: open } = streams();
    let calls = 0;
    const watchHealth = (): Promise<void> => {
      calls++;
      return Promise.reject(failed(STATUS.UNIMPLEMENTED));
    };
    open.keepOpen(GPU, { watchHealth }, new AbortController().signal);
    await open.settled();
    assert.deepEqual([calls, clock.pending], [1, 0]);
  });
});
