// The follower of the assigned ConfigMap, in virtual time over an API server in memory.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { ConfigSource } from "../../../../src/shared/contracts/node-status.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type {
  ApiClient,
  ApiList,
  ApiObject,
  ResourceKind,
  WatchEvent,
  WatchOptions,
} from "../../../../src/shared/kubernetes/api/client/port.js";
import { CONFIG_SOURCE_ANNOTATION } from "../../../../src/shared/kubernetes/api/config-source.js";
import type { Node } from "../../../../src/shared/kubernetes/api/node.js";
import type { ConfigMap } from "../../../../src/shared/kubernetes/api/objects.js";
import { ConfigSourceFollower } from "../../../../src/workers/node-status/config-source/follow-config-source.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

/** One ConfigMap behind list and watch. */
class MapApi {
  private version = 1;
  private object: ConfigMap | undefined;
  private readonly watchers = new Set<(event: WatchEvent<ConfigMap>) => void>();
  forbidden = false;
  selectors: string[] = [];

  put(data: unknown, metadata: object = {}, uid = "u1"): void {
    const type = this.object === undefined ? "ADDED" : "MODIFIED";
    const resourceVersion = String(++this.version);
    this.object = {
      metadata: { namespace: "kube-system", name: "workers", ...metadata, uid, resourceVersion },
      data: data as Record<string, string>,
    };
    this.notify({ type, object: this.object });
  }
  remove(): void {
    const { object } = this;
    if (object === undefined) return;
    this.object = undefined;
    this.notify({
      type: "DELETED",
      object: { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } },
    });
  }
  get watches(): number {
    return this.watchers.size;
  }

  client(): ApiClient {
    const api = {
      list: <T extends ApiObject>(_kind: ResourceKind<T>, { fieldSelector = "" }): Promise<ApiList<T>> => {
        this.check(fieldSelector);
        const items = this.object === undefined ? [] : [this.object];
        return Promise.resolve({ metadata: { resourceVersion: String(this.version) }, items: items as unknown as T[] });
      },
      watch: <T extends ApiObject>(_kind: ResourceKind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> =>
        this.watch(options) as AsyncIterable<WatchEvent<T>>,
    };
    return api as unknown as ApiClient;
  }

  private check(selector: string): void {
    this.selectors.push(selector);
    if (this.forbidden) throw new ApiError(403, "Forbidden", 'configmaps "workers" is forbidden');
  }
  private notify(event: WatchEvent<ConfigMap>): void {
    for (const watcher of this.watchers) watcher(event);
  }
  private async *watch({
    fieldSelector = "",
    sendInitialEvents,
    signal,
  }: WatchOptions): AsyncGenerator<WatchEvent<ConfigMap>> {
    this.check(fieldSelector);
    const queue: WatchEvent<ConfigMap>[] = [];
    let wake = (): void => undefined;
    const watcher = (event: WatchEvent<ConfigMap>): void => {
      queue.push(event);
      wake();
    };
    this.watchers.add(watcher);
    signal.addEventListener("abort", () => wake());
    try {
      if (sendInitialEvents === true) {
        if (this.object !== undefined) yield { type: "ADDED", object: this.object };
        yield { type: "BOOKMARK", resourceVersion: String(this.version), initialEventsEnd: true };
      }
      while (!signal.aborted) {
        const event = queue.shift();
        if (event !== undefined) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.watchers.delete(watcher);
    }
  }
}

const nodeWith = (source?: string): Node => ({
  metadata: { name: "n1", ...(source !== undefined && { annotations: { [CONFIG_SOURCE_ANNOTATION]: source } }) },
});

class World {
  readonly clock = new SteppedClock();
  readonly api = new MapApi();
  readonly sent: ConfigSource[] = [];
  deaf = false;
  readonly follower = new ConfigSourceFollower({
    allowed: ["kube-system/w*"],
    client: this.api.client(),
    presence: { onReturn: () => () => undefined },
    clock: this.clock,
    log: keptLog().log,
    random: () => 0.5,
    send: (source) => {
      if (this.deaf) return Promise.reject(new Error("main does not respond"));
      this.sent.push(source);
      return Promise.resolve();
    },
  });

  constructor(t: TestContext) {
    t.after(() => this.follower.stop());
  }
  get last(): ConfigSource | undefined {
    return this.sent.at(-1);
  }
  get problem(): string {
    return this.last?.kind === "unavailable" ? this.last.problem : "";
  }
  get text(): string | undefined {
    return this.last?.kind === "config-map" ? this.last.text : undefined;
  }
  async pass(ms = 2000): Promise<void> {
    for (let left = ms; left > 0; left -= 100) {
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      this.clock.step(100);
    }
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a Node without an assignment: the node's own files, and no watch", async (t) => {
  const world = new World(t);
  world.follower.onNode(nodeWith());
  await world.pass();
  assert.deepEqual(world.sent, [{ kind: "local" }]);
  assert.equal(world.api.watches, 0);
});

test("the text of the key, with UID and resourceVersion; only the one ConfigMap is watched", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "a" });
  world.follower.onNode(nodeWith("kube-system/workers"));
  await world.pass();
  const reference = {
    namespace: "kube-system",
    name: "workers",
    kubeletConfigKey: "kubelet",
    uid: "u1",
    resourceVersion: "2",
  };
  assert.deepEqual(world.sent, [{ kind: "config-map", reference, text: "a", pinned: false }]);
  assert.deepEqual([...new Set(world.api.selectors)], ["metadata.name=workers"]);
  world.api.put({ kubelet: "b" });
  await world.pass();
  assert.equal(world.text, "b");
});

test("labels, annotations and other keys are not sent; the same text in a new ConfigMap is", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "a" });
  world.follower.onNode(nodeWith("kube-system/workers"));
  await world.pass();
  world.api.put({ kubelet: "a" }, { labels: { x: "y" } });
  await world.pass();
  world.api.put({ kubelet: "a", other: "z" }, { annotations: { x: "y" } });
  await world.pass();
  assert.equal(world.sent.length, 1);
  world.api.put({ kubelet: "a" }, {}, "u2");
  await world.pass();
  assert.equal(world.sent.length, 2);
});

const STATES: [name: string, source: string, change: (api: MapApi) => void, problem: RegExp][] = [
  ["no ConfigMap", "kube-system/workers", () => undefined, /^ConfigMap kube-system\/workers does not exist$/],
  ["no key", "kube-system/workers/x", (api) => api.put({ b: "", a: "" }), /has no key x; its keys are b, a$/],
  ["no data", "kube-system/workers", (api) => api.put(undefined), /it has no keys in data/],
  ["data of a wrong type", "kube-system/workers", (api) => api.put(["kubelet"]), /has no key kubelet/],
  ["a key of a wrong type", "kube-system/workers", (api) => api.put({ kubelet: 5 }), /key kubelet .* is not a text/],
  ["a key of every object", "kube-system/workers/constructor", (api) => api.put({}), /has no key constructor/],
  [
    "too long",
    "kube-system/workers",
    (api) => api.put({ kubelet: "x".repeat(1024 * 1024 + 1) }),
    /longer than 1048576/,
  ],
  ["an invalid assignment", "workers", () => undefined, /annotation .* is invalid/],
  [
    "another UID",
    '{"configMap":{"namespace":"kube-system","name":"workers","uid":"u9"}}',
    (api) => api.put({ kubelet: "a" }),
    /has UID u1, and the Node assigns u9/,
  ],
  [
    "another version",
    '{"configMap":{"namespace":"kube-system","name":"workers","resourceVersion":"9"}}',
    (api) => api.put({ kubelet: "a" }),
    /has resourceVersion 2, and the Node assigns 9/,
  ],
  [
    "forbidden",
    "kube-system/workers",
    (api) => (api.forbidden = true),
    /forbids the node to read ConfigMap kube-system\/workers .*by a Role/,
  ],
];
for (const [name, source, change, problem] of STATES) {
  test(`unavailable: ${name}`, async (t) => {
    const world = new World(t);
    change(world.api);
    world.follower.onNode(nodeWith(source));
    await world.pass();
    assert.match(world.problem, problem);
    assert.equal(world.sent.length, 1);
  });
}

test("deleted, made again, the right taken and given back", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "a" });
  world.follower.onNode(nodeWith("kube-system/workers"));
  await world.pass();
  world.api.remove();
  await world.pass();
  assert.match(world.problem, /does not exist/);
  world.api.put({ kubelet: "b" });
  await world.pass();
  assert.equal(world.text, "b");
  world.follower.onNode(nodeWith("kube-system/workers/other"));
  world.api.forbidden = true;
  await world.pass();
  assert.match(world.problem, /forbids/);
  world.api.forbidden = false;
  world.api.put({ other: "c" });
  await world.pass(60_000);
  assert.equal(world.text, "c");
});

test("a flood of texts reaches main at most twice a second, and the last one does", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "0" });
  world.follower.onNode(nodeWith("kube-system/workers"));
  await world.pass();
  const before = world.sent.length;
  for (let change = 1; change <= 1000; change++) {
    world.api.put({ kubelet: String(change) });
    if (change % 10 === 0) await world.pass(100);
  }
  await world.pass(1000);
  assert.equal(world.text, "1000");
  // 100 × 100 ms and the wait after them.
  assert.ok(world.sent.length - before <= 24, `${world.sent.length - before} in 11 s`);
});

test("a flood of assignments: at most one switch per second, one watch, and the last one counts", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "a" });
  world.follower.onNode(nodeWith("kube-system/w0"));
  await world.pass();
  const before = world.api.selectors.length;
  for (let change = 1; change <= 1000; change++) {
    world.follower.onNode(nodeWith(`kube-system/w${change}`));
    if (change % 10 === 0) await world.pass(100);
    assert.ok(world.api.watches <= 1);
  }
  await world.pass();
  assert.equal(world.api.selectors.at(-1), "metadata.name=w1000");
  assert.ok(world.api.selectors.length - before <= 13, String(world.api.selectors.length - before));
});

test("a text that main did not take is sent again", async (t) => {
  const world = new World(t);
  world.api.put({ kubelet: "a" });
  world.deaf = true;
  world.follower.onNode(nodeWith("kube-system/workers"));
  await world.pass();
  assert.equal(world.sent.length, 0);
  world.deaf = false;
  await world.pass();
  assert.equal(world.text, "a");
});

const REFUSED_SOURCES: [name: string, node: Node][] = [
  ["another namespace", nodeWith("dev/workers")],
  ["another name", nodeWith("kube-system/evil/kubelet")],
  ["JSON", nodeWith('{"configMap":{"namespace":"dev","name":"workers","uid":"u1","resourceVersion":"2"}}')],
  [
    "spec.configSource",
    {
      ...nodeWith(),
      spec: { configSource: { configMap: { namespace: "dev", name: "workers", kubeletConfigKey: "kubelet" } } },
    },
  ],
];
for (const [name, node] of REFUSED_SOURCES) {
  test(`a ConfigMap that is not in --dynamic-config-sources is refused before any read: ${name}`, async (t) => {
    const world = new World(t);
    world.api.put({ kubelet: "evil" });
    world.follower.onNode(node);
    await world.pass(60_000);
    assert.deepEqual(world.api.selectors, []);
    assert.match(world.problem, /is refused: --dynamic-config-sources of this kubelet allows kube-system\/w\*$/);
    world.follower.onNode(nodeWith("kube-system/workers"));
    await world.pass();
    assert.equal(world.text, "evil");
  });
}
