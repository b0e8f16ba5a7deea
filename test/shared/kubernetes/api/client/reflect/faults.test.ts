// A reflector over real connections to the API server's fixture, while objects change and connections fail. It ends
// with the server's objects, and each event follows from the events before it.
// @headline Cluster | No change of the API server is lost. | any failure of it

import { deepEqual, ok } from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createApiClient } from "../../../../../../src/shared/kubernetes/api/client/client.js";
import { CONFIG_MAPS } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { loadClientConfig } from "../../../../../../src/shared/kubernetes/api/client/kubeconfig/load.js";
import { Reflector } from "../../../../../../src/shared/kubernetes/api/client/reflector.js";
import type { ConfigMap } from "../../../../../../src/shared/kubernetes/api/objects.js";
import { FakeApi } from "../../../../../fake-api/fake-api.js";
import { fastClock } from "../../../../../support/fast-clock.js";
import { keptLog } from "../client-kit.js";

/** A second takes 20 ms. */
const SPEED = 50;
const clock = fastClock(SPEED);
const realMs = (ms: number): Promise<void> => clock.sleep(ms * SPEED);
const WATCH = { verb: "watch", resource: "configmaps" };

/** The reflector's reports, with their faults. */
class Mirror {
  readonly objects = new Map<string, string>();
  readonly faults: string[] = [];
  replaced = 0;
  events = 0;

  replace(all: ConfigMap[]): void {
    this.replaced += 1;
    this.objects.clear();
    for (const { metadata } of all) this.objects.set(metadata.name ?? "", metadata.resourceVersion ?? "");
  }
  record({ type, object: { metadata } }: { type: string; object: ConfigMap }): void {
    this.events += 1;
    const { name = "", resourceVersion = "" } = metadata;
    const before = this.objects.get(name);
    const isNews = type === "ADDED" ? before === undefined : Number(resourceVersion) > Number(before);
    if (!isNews) this.faults.push(`${type} ${name}@${resourceVersion} after ${before ?? "nothing"}`);
    if (type === "DELETED") this.objects.delete(name);
    else this.objects.set(name, resourceVersion);
  }
}

let api: FakeApi;
before(async () => {
  const admin = { name: "admin", groups: ["system:masters"] };
  api = await FakeApi.start({ clock, tokens: new Map([["admin", admin]]), bookmarkMs: 5000 });
});
after(() => api[Symbol.asyncDispose]());

let writes = 0;
/** Makes, changes and takes away objects. */
function write(times: number): void {
  for (let left = times; left > 0; left--) {
    const name = `map-${(writes * 7) % 13}`;
    if (writes % 4 === 3) api.store.remove("configmaps", "default", name);
    else api.store.put("configmaps", { metadata: { name, namespace: "default" }, data: { n: String(writes) } });
    writes += 1;
  }
}
const there = (): [string, string][] =>
  api.store
    .list("configmaps", "default")
    .map(({ metadata }): [string, string] => [metadata.name, metadata.resourceVersion ?? ""])
    .sort();

interface Seen {
  mirror: Mirror;
  watches: number;
  lists: number;
  lines: string[];
}

/** @param change what befalls, while a reflector watches; the rest of the faults is then taken back */
async function under(change: () => Promise<void>, streamsList = true): Promise<Seen> {
  const { log, lines } = keptLog();
  const config = await loadClientConfig(await api.kubeconfig({ token: "admin" }));
  const client = createApiClient({ config, clock, log, qps: -1 });
  const mirror = new Mirror();
  api.calls.clear();
  const reflector = new Reflector<ConfigMap>({
    client,
    kind: CONFIG_MAPS,
    namespace: "default",
    clock,
    log,
    streamsList,
    onReplace: (all) => mirror.replace(all),
    onEvent: (event) => mirror.record(event),
  });
  try {
    reflector.start();
    await reflector.synced;
    while (api.open.watches === 0) await realMs(1);
    await change();
    api.faults.clear();
    const is = (): string => JSON.stringify([...mirror.objects].sort());
    for (const end = clock.monotonic() + 60_000; is() !== JSON.stringify(there()) && clock.monotonic() < end;) {
      await realMs(2);
    }
    deepEqual([...mirror.objects].sort(), there());
    deepEqual(mirror.faults, []);
  } finally {
    await reflector.stop();
    client.close();
  }
  const count = (verb: string): number => api.calls.count({ verb, resource: "configmaps" });
  return { mirror, watches: count("watch"), lists: count("list"), lines };
}

describe("a reflector has the server's objects", () => {
  for (const how of ["end", "drop"] as const) {
    it(`when its watch is cut every 2 s (${how}), without a list`, async () => {
      const seen = await under(async () => {
        api.faults.cutWatches(2000, how);
        for (let i = 0; i < 24; i++) {
          write(3);
          await realMs(5);
        }
      });
      ok(seen.watches >= 3, `${seen.watches} watches`);
      deepEqual(seen.mirror.replaced, 1);
      ok(seen.mirror.events > 0);
    });
  }

  it("when its version is too old", async () => {
    const seen = await under(async () => {
      write(10);
      api.faults.expireWatches();
      write(10);
      await realMs(20);
    });
    ok(seen.mirror.replaced >= 2);
    deepEqual(seen.lines, []);
  });

  it("when its version grows too old while it is away", async () => {
    const seen = await under(async () => {
      await api.stop();
      write(20);
      api.store.compact();
      await api.restart();
    }, false);
    ok(seen.mirror.replaced >= 2);
  });

  it("when the server has too much to do", async () => {
    const seen = await under(async () => {
      api.faults.fail(WATCH, { code: 429, reason: "TooManyRequests", retryAfter: 1 }, { times: 2 });
      api.faults.fail(WATCH, { code: 503, reason: "ServiceUnavailable" }, { times: 1 });
      api.faults.cutWatchesNow("drop");
      write(20);
      while (api.calls.count({ ...WATCH, code: 503 }) === 0) await realMs(2);
    });
    deepEqual(api.calls.count({ ...WATCH, code: 429 }), 2);
    deepEqual(seen.mirror.replaced, 1);
  });

  it("when the server is restarted on its port", async () => {
    const seen = await under(async () => {
      await api.stop();
      write(20);
      await realMs(50);
      await api.restart();
    });
    deepEqual(seen.mirror.replaced, 1);
    ok(seen.lines.some((line) => line.includes("Failed to watch objects of the API server; trying again")));
    ok(seen.lines.some((line) => line.includes("Watching the API server's objects again")));
  });

  it("when a list breaks off halfway", async () => {
    const seen = await under(async () => {
      api.faults.drop({ verb: "list", resource: "configmaps" }, "before", { times: 1 });
      api.faults.expireWatches();
      write(10);
      await realMs(50);
    }, false);
    ok(seen.mirror.replaced >= 2);
  });

  it("when its storage was wiped, though the server does not report it", async () => {
    // As a real server, which sends none at a version of the future.
    api.settings.bookmarkMs = 3_600_000;
    write(50);
    const seen = await under(async () => {
      await api.stop();
      api.store.wipe();
      api.store.put("configmaps", { metadata: { name: "new", namespace: "default" } });
      await api.restart();
    });
    ok(seen.mirror.objects.has("new"));
    deepEqual(
      [...seen.mirror.objects.keys()].filter((name) => name.startsWith("map-")),
      [],
    );
    ok(seen.lines.some((line) => line.includes("Too large resource version")));
  });
});
