// Device plugins that register under names without end, report lists without end, or never answer, leave room for the
// others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceMetrics } from "../../../../src/main/resources/devices/metrics.js";
import { dialDevicePlugin } from "../../../../src/main/resources/devices/plugin-client.js";
import {
  ListSizes,
  MAX_LISTS_BYTES,
  MAX_PENDING,
  MAX_RESOURCES,
  PendingRegistrations,
} from "../../../../src/main/resources/devices/plugin-limits.js";
import { registerPlugin } from "../../../../src/main/resources/devices/register-plugin.js";
import { PluginCallError, STATUS } from "../../../../src/shared/kubernetes/plugins/call-error.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { renderExposition } from "../../../../src/workers/server/metrics/merge-metrics.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { devices, FakePlugin, GPU, kit, never } from "./kit.js";

const name = (at: number): string => `example.com/r${at}`;

test("plugins have a bounded number of resource names together; known ones register again at any time", async (t) => {
  const { manager, plug } = await kit(t);
  const first = new FakePlugin(devices({ a: {} }));
  await plug(name(0), first);
  for (let at = 1; at < MAX_RESOURCES; at++) await plug(name(at), new FakePlugin(devices({ a: {} })));
  const refused = new FakePlugin(devices({ a: {} }));
  await assert.rejects(plug(GPU, refused), /have registered 256 resources, and the kubelet takes no more/);
  assert.equal(manager.pool.has(GPU), false);
  await first.die();
  await plug(name(0), new FakePlugin(devices({ a: {}, b: {} })));
  assert.equal(manager.pool.usable(name(0)).size, 2);
});

test("names of plugins that have gone count, too", async (t) => {
  const { manager, clock, plug } = await kit(t);
  for (let at = 0; at < MAX_RESOURCES; at++) {
    const plugin = new FakePlugin(devices({ a: {} }));
    await plug(name(at), plugin);
    await plugin.die();
  }
  clock.step(10 * 60_000);
  assert.equal(manager.pool.names().length, 0);
  await assert.rejects(plug(GPU, new FakePlugin(devices({}))), /the kubelet takes no more/);
  await plug(name(7), new FakePlugin(devices({ a: {} })));
});

test("of names that arrive together no more than the limit are connected", async (t) => {
  const { manager, plug } = await kit(t);
  for (let at = 0; at < MAX_RESOURCES - 1; at++) await plug(name(at), new FakePlugin(devices({})));
  const last = ["one", "two", "three"].map((one) => plug(`example.com/${one}`, new FakePlugin(devices({}))));
  const results = await Promise.allSettled(last);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(manager.pool.names().length, MAX_RESOURCES);
});

test("the lists of all plugins have a bounded size together; a smaller list makes room", () => {
  const sizes = new ListSizes();
  const half = MAX_LISTS_BYTES / 2;
  sizes.replace("a", half);
  sizes.replace("b", half);
  assert.throws(() => sizes.replace("c", 1), /the kubelet keeps at most 8388608/);
  assert.throws(() => sizes.replace("a", half + 1), /would have 8388609 bytes/);
  sizes.replace("a", half - 1);
  sizes.replace("c", 1);
  sizes.forget("b");
  sizes.replace("a", half);
});

test("beyond the limit the registration that has waited longest is given up, so that a plugin that answers registers", async () => {
  const pending = new PendingRegistrations();
  const ended: string[] = [];
  const hang = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  const waiting = Array.from({ length: 3 * MAX_PENDING }, (_, at) =>
    pending.run(never, hang).catch((error: unknown) => ended.push(`${at}: ${String(error)}`)),
  );
  await until("the oldest are given up", () => ended.length === 2 * MAX_PENDING);
  assert.match(ended[0] ?? "", /^0: .*64 other device plugins wait/);
  assert.equal(await pending.run(never, () => Promise.resolve("good")), "good");
  const stopping = new AbortController();
  const stopped = assert.rejects(pending.run(stopping.signal, hang), /the kubelet is stopping/);
  stopping.abort(new Error("the kubelet is stopping"));
  await stopped;
  assert.equal(ended.length, 2 * MAX_PENDING + 1, "the good one took the place of the oldest");
  assert.equal(waiting.length, 3 * MAX_PENDING);
});

test("a request with an endpoint that is no name of a socket is refused before anything is dialled or counted", async () => {
  const registry = new ThreadRegistry("main");
  const endpoints = { register: () => assert.fail("it was dialled"), of: () => undefined };
  const deps = { endpoints, metrics: deviceMetrics(registry), directory: "/d" };
  const of = (endpoint: string, resourceName = GPU) => ({ version: "v1beta1", endpoint, resourceName });
  const bad = ["", ".", "..", "../x.sock", "/x.sock", "a/b", "kubelet.sock", "x".repeat(256), "y".repeat(1e6)];
  const requests = [
    ...bad.map((endpoint) => of(endpoint)),
    of("x.sock", "z".repeat(1e6)),
    { ...of("x"), version: "v".repeat(1e6) },
  ];
  for (const request of requests) {
    await assert.rejects(registerPlugin(request, deps, never), ({ message }: Error) => message.length < 1000);
  }
  assert.doesNotMatch(renderExposition([await registry.exportSnapshot()]), /registration_total\{/);
});

test("a resource that was never connected is no label of the metrics", async () => {
  const registry = new ThreadRegistry("main");
  const known = new Set<string>();
  const endpoints = {
    register: (resource: string) => (known.has(resource) ? Promise.resolve() : Promise.reject(new Error("nobody"))),
    of: (resource: string) => (known.has(resource) ? ({} as never) : undefined),
  };
  const deps = { endpoints, metrics: deviceMetrics(registry), directory: "/d" };
  const request = { version: "v1beta1", endpoint: "x.sock", resourceName: GPU };
  await assert.rejects(registerPlugin(request, deps, never), /nobody/);
  assert.doesNotMatch(renderExposition([await registry.exportSnapshot()]), /registration_total\{/);
  known.add(GPU);
  await registerPlugin(request, deps, never);
  assert.match(
    renderExposition([await registry.exportSnapshot()]),
    /registration_total\{resource_name="example.com\/gpu"\} 1/,
  );
});

test("a plugin whose Allocate had no response in time gets two seconds for each later one, until it responds", async () => {
  const timeouts: number[] = [];
  let responds = false;
  const connection = {
    call: (_method: unknown, _request: unknown, { timeoutMs }: { timeoutMs: number }): Promise<never> => {
      timeouts.push(timeoutMs);
      if (responds) return Promise.resolve({ containerResponses: [] } as never);
      return Promise.reject(new PluginCallError("Allocate", "plugin.sock", STATUS.DEADLINE_EXCEEDED, "no response"));
    },
    newest: () => Promise.reject(new Error("not part of this test")),
    [Symbol.dispose]: () => undefined,
  };
  const client = dialDevicePlugin("plugin.sock", new SteppedClock(), connection);
  const timesOut = (): Promise<void> => assert.rejects(client.allocate(["a"], never), PluginCallError);
  await timesOut();
  await timesOut();
  responds = true;
  assert.equal(await client.allocate(["a"], never), undefined);
  responds = false;
  await timesOut();
  assert.deepEqual(timeouts, [120_000, 2_000, 2_000, 120_000]);
});
