// Drivers: the newest plugin of a driver is called, and ResourceSlices go when none is left for a while.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { DriverClient } from "../../../../src/main/resources/dra/driver-port.js";
import { Drivers } from "../../../../src/main/resources/dra/drivers.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const NAME = "gpu.example.com";
const plugin = (endpoint: string, versions: readonly string[] = ["v1.DRAPlugin"]) => ({
  ...{ type: "DRAPlugin", name: NAME, endpoint, versions },
});

function build({ connects = true } = {}) {
  const clock = new SteppedClock();
  const wiped: AbortSignal[] = [];
  const dialled: string[] = [];
  const healthServices: string[] = [];
  const closed: string[] = [];
  const watched = new Set<string>();
  const clients = new Map<DriverClient, string>();
  const connections = new Map<string, (connected: boolean) => void>();
  const drivers = new Drivers({
    dial: (_driver, endpoint, { claims, health }) => {
      dialled.push(`${endpoint} ${claims}`);
      healthServices.push(health);
      const client: DriverClient = {
        prepare: () => Promise.resolve(new Map()),
        unprepare: () => Promise.resolve(new Map()),
        watchHealth: () => Promise.resolve(),
        watchConnection(onChange) {
          connections.set(endpoint, onChange);
          if (connects) onChange(true);
        },
        close: () => void closed.push(endpoint),
      };
      clients.set(client, endpoint);
      return Promise.resolve(client);
    },
    wipeSlices: (_driver, signal) => void wiped.push(signal),
    watchHealth: (driver, client, signal) => {
      const stream = `${driver} ${clients.get(client)}`;
      watched.add(stream);
      signal.addEventListener("abort", () => watched.delete(stream));
    },
    clock,
    log: keptLog().log,
  });
  const connect = (endpoint: string, connected: boolean): void => connections.get(endpoint)?.(connected);
  const called = (): string | undefined => clients.get(drivers.client(NAME));
  return { clock, wiped, dialled, healthServices, closed, watched, drivers, connect, called };
}

describe("drivers", () => {
  test("a driver without a plugin cannot be called", () => {
    assert.throws(() => build().drivers.client(NAME), /DRA driver gpu\.example\.com is not registered/);
  });

  test("a plugin without a service that the kubelet knows is refused, with both lists", () => {
    const { drivers } = build();
    assert.throws(() => drivers.validate(plugin("/a", [])), /names no gRPC service/);
    assert.throws(
      () => drivers.validate(plugin("/a", ["v2.DRAPlugin"])),
      /v2\.DRAPlugin.*v1\.DRAPlugin, v1beta1\.DRAPlugin/,
    );
    drivers.validate(plugin("/a", ["v1beta1.DRAPlugin"]));
  });

  test("the first service of the plugin's list that the kubelet knows is called", async () => {
    const { drivers, dialled } = build();
    await drivers.register(plugin("/a", ["v2.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAPlugin"]));
    assert.deepEqual(dialled, ["/a v1beta1.DRAPlugin"]);
  });

  test("health comes from the newest service that the plugin names, and from v1alpha1 if it names none", async () => {
    const { drivers, healthServices } = build();
    const rows = [[], ["v1alpha1.DRAResourceHealth"], ["v1alpha1.DRAResourceHealth", "v1.DRAResourceHealth"]];
    for (const [index, services] of rows.entries()) {
      await drivers.register(plugin(`/${index}`, ["v1.DRAPlugin", ...services]));
    }
    const alpha = "v1alpha1.DRAResourceHealth";
    assert.deepEqual(healthServices, [alpha, alpha, "v1.DRAResourceHealth"]);
  });

  test("during an update the newest plugin is called, and the older one when it goes again", async () => {
    const { drivers, called, closed } = build();
    await drivers.register(plugin("/old"));
    await drivers.register(plugin("/new"));
    assert.equal(called(), "/new");
    await assert.rejects(drivers.register(plugin("/old")), /endpoint \/old is registered already/);
    await drivers.deregister(plugin("/new"));
    assert.deepEqual([called(), closed], ["/old", ["/new"]]);
  });

  test("slices are deleted 30 s after the last plugin went, and not when one is back in time", async () => {
    const { drivers, clock, wiped } = build();
    await drivers.register(plugin("/a"));
    await drivers.register(plugin("/b"));
    await drivers.deregister(plugin("/a"));
    clock.step(60_000);
    await drivers.deregister(plugin("/b"));
    clock.step(29_000);
    await drivers.register(plugin("/a"));
    clock.step(60_000);
    assert.equal(wiped.length, 0);
    await drivers.deregister(plugin("/a"));
    clock.step(30_000);
    assert.equal(wiped.length, 1);
    await drivers.register(plugin("/a"));
    assert.equal(wiped[0]?.aborted, true);
  });

  test("slices are deleted 30 s after the last connection was lost, though the plugin is registered", async () => {
    const { drivers, clock, wiped, connect } = build();
    await drivers.register(plugin("/a"));
    await drivers.register(plugin("/b"));
    connect("/b", false);
    clock.step(60_000);
    assert.equal(wiped.length, 0, "/a is connected");
    connect("/a", false);
    clock.step(29_000);
    connect("/b", true);
    clock.step(60_000);
    assert.equal(wiped.length, 0, "/b was back in time");
    connect("/b", false);
    clock.step(20_000);
    await drivers.deregister(plugin("/b"));
    clock.step(10_000);
    assert.equal(wiped.length, 1, "the time runs from the first loss");
    connect("/b", true);
    const [wipe] = wiped;
    assert.ok(wipe?.aborted === false, "a plugin that has left");
    connect("/a", true);
    assert.equal(wiped.filter(({ aborted }) => aborted).length, 1);
  });

  test("a plugin that never accepts a connection is no use of its driver", async () => {
    const { drivers, clock, wiped } = build({ connects: false });
    await drivers.register(plugin("/a"));
    clock.step(30_000);
    assert.equal(wiped.length, 1);
  });

  test("a connected plugin is called before a newer one that is not connected", async () => {
    const { drivers, called, connect } = build();
    await drivers.register(plugin("/old"));
    await drivers.register(plugin("/new"));
    connect("/new", false);
    assert.equal(called(), "/old");
    connect("/old", false);
    assert.equal(called(), "/new");
  });

  test("the health of a plugin's devices is followed while it is registered", async () => {
    const { drivers, watched } = build();
    await drivers.register(plugin("/a"));
    await drivers.register(plugin("/b"));
    assert.deepEqual([...watched], [`${NAME} /a`, `${NAME} /b`]);
    await drivers.deregister(plugin("/a"));
    assert.deepEqual([...watched], [`${NAME} /b`]);
    drivers.stop();
    assert.equal(watched.size, 0);
  });

  test("stop closes all plugins and leaves no timer", async () => {
    const { drivers, clock, closed } = build();
    await drivers.register(plugin("/a"));
    await drivers.deregister(plugin("/a"));
    await drivers.register(plugin("/b"));
    await drivers.deregister(plugin("/b"));
    drivers.stop();
    assert.deepEqual([closed, clock.pending], [["/a", "/b"], 0]);
  });
});
