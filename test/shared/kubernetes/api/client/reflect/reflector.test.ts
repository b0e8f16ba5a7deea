// @promise Cluster: With any failure of the server (cut watches, 410, 429, 503, restarts, a wiped store) no change is
//   lost or delivered twice, and no server is polled in a busy loop.
// @with test/shared/kubernetes/api/client/reflect/faults.test.ts

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiConnectionError, ApiError, isGone } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { added, bookmark, deleted, modified, object, ScriptedApi } from "./scripted-api.js";

const gone = () => new ApiError(410, "Expired", "too old resource version");
const future = () =>
  new ApiError(504, "Timeout", "Timeout: Too large resource version: 5, current: 2", {
    causes: [{ reason: "ResourceVersionTooLarge" }],
  });
const refused = () => new ApiConnectionError("connect ECONNREFUSED");
const items = (version: string, ...names: string[]) => ({
  metadata: { resourceVersion: version },
  items: names.map((name) => object(name, "1")),
});

describe("the whole set as a stream", () => {
  it("is delivered at once when it is whole, and changes follow on the same watch", async () => {
    const api = new ScriptedApi({ fieldSelector: "spec.nodeName=n1" });
    api.reflector.start();
    await api.settle();
    const { options } = api.watch;
    deepEqual(
      [options.fieldSelector, options.resourceVersion, options.sendInitialEvents, options.timeoutSeconds],
      ["spec.nodeName=n1", "", true, 300],
    );
    api.watch.send(added("a", "3"), added("b", "1"), bookmark("2"), modified("a", "6"), deleted("b", "7"));
    await api.settle();
    deepEqual([api.events, api.reflector.isSynced], [[], false]);
    api.watch.send(bookmark("7", true), added("c", "8"), bookmark("9"));
    await api.settle();
    equal(await api.reflector.synced, true);
    deepEqual(api.events, ["= a@6", "ADDED c@8"]);
    equal(api.reflector.lastResourceVersion, "9");
    await api.reflector.stop();
    equal(api.clock.pending, 0);
  });

  for (const status of [400, 415, 422]) {
    it(`is requested as a list after the server responded with ${status}, from then on`, async () => {
      const api = new ScriptedApi();
      api.answers = [items("5", "a")];
      api.onWatch = (watch) => {
        if (watch.options.sendInitialEvents === true) watch.end(new ApiError(status, "Invalid", "forbidden for watch"));
      };
      api.reflector.start();
      await api.settle();
      deepEqual(api.asked, ['0 stream ""', '0 list "0" limit=500', '0 watch "5"']);
      deepEqual([api.events, api.lines], [["= a@1"], []]);
      await api.step(40_000);
      api.watch.end(gone());
      await api.step(0);
      deepEqual(api.asked.slice(3), ['40000 list "" limit=500', '40000 watch "5"']);
      await api.reflector.stop();
    });
  }

  it("is requested as a list when it stops halfway", async () => {
    const api = new ScriptedApi();
    api.answers = [items("5", "a")];
    api.reflector.start();
    await api.settle();
    api.watch.send(added("a", "1"));
    await api.step(29_999);
    equal(api.asked.length, 1);
    await api.step(1);
    deepEqual(api.asked.slice(1), ['30000 list "0" limit=500', '30000 watch "5"']);
    deepEqual(api.events, ["= a@1"]);
    await api.reflector.stop();
  });
});

describe("lists", () => {
  it("come in pages, and whole when the pages took too long", async () => {
    const page = { ...items("5", "a"), metadata: { resourceVersion: "5", continue: "c1" } };
    const api = new ScriptedApi({ streamsList: false });
    api.answers = [page, items("5", "b")];
    api.reflector.start();
    await api.settle();
    deepEqual(api.asked, ['0 list "0" limit=500', '0 list "-" limit=500 c1', '0 watch "5"']);
    deepEqual(api.events, ["= a@1 b@1"]);
    await api.reflector.stop();

    const late = new ScriptedApi({ streamsList: false });
    late.answers = [page, gone(), items("9", "a", "b")];
    late.reflector.start();
    await late.settle();
    deepEqual(late.asked, ['0 list "0" limit=500', '0 list "-" limit=500 c1', '0 list "5"', '0 watch "9"']);
    deepEqual(late.events, ["= a@1 b@1"]);
    await late.reflector.stop();
  });
});

async function synced(options: ConstructorParameters<typeof ScriptedApi>[0] = {}): Promise<ScriptedApi> {
  const api = new ScriptedApi({ streamsList: false, ...options });
  api.answers = [items("5", "a")];
  api.reflector.start();
  await api.settle();
  api.asked.length = api.events.length = 0;
  return api;
}

describe("a watch", () => {
  it("continues where the last one ended, without a list", async () => {
    const api = await synced();
    api.watch.send(modified("a", "6"), bookmark("8"));
    await api.step(1000);
    api.watch.end();
    await api.settle();
    deepEqual(api.asked, ['1000 watch "8"']);
    api.watch.send(deleted("a", "9"));
    await api.step(1500);
    api.watch.end(refused());
    await api.settle();
    deepEqual(api.asked.slice(1), ['2500 watch "9"']);
    deepEqual(api.events, ["MODIFIED a@6", "DELETED a@9"]);
    await api.reflector.stop();
  });

  it("of an unreachable server is requested with growing delays, logged once, and the delay starts again after two good minutes", async () => {
    const api = await synced();
    let isDown = true;
    api.onWatch = (watch) => {
      if (isDown) watch.end(refused());
    };
    api.watch.end(refused());
    for (let second = 0; second < 3600; second++) await api.step(1000);
    const at = api.asked.map((line) => Number(line.split(" ", 1)[0]));
    // Waits of 1.6, 3.2, 6.4, … s, seen by a clock that steps by whole seconds.
    ok(at.length >= 120 && at.length <= 126, `${at.length} requests in an hour`);
    ok(api.asked.every((line) => line.endsWith('watch "5"')));
    match(api.lines.join("\n"), /^Failed to watch objects of the API server; trying again connect ECONNREFUSED$/);
    equal(api.reflector.lastError?.message, "connect ECONNREFUSED");
    isDown = false;
    await api.step(30_000);
    api.watch.send(bookmark("6"));
    await api.step(0);
    equal(api.lines.at(-1), "Watching the API server's objects again");
    equal(api.reflector.lastError, undefined);
    await api.step(150_000);
    isDown = true;
    const before = api.asked.length;
    api.watch.end(refused());
    await api.step(0);
    await api.step(1600);
    equal(api.asked.length, before + 2, "one at once, one after the first wait");
    await api.reflector.stop();
    equal(api.clock.pending, 0);
  });

  it("is not requested in a busy loop, however the server fails", async () => {
    const ends: [string, (api: ScriptedApi) => void][] = [
      ["ends at once", ({ watch }) => watch.end()],
      ["ends after an event", ({ watch }) => watch.send(bookmark("6")).end()],
      ["breaks after an event", ({ watch }) => watch.send(bookmark("6")).end(refused())],
      ["tells of an old version", ({ watch }) => watch.end(gone())],
      ["goes back", ({ watch }) => void watch.send(bookmark("1"))],
      ["forbids", ({ watch }) => watch.end(new ApiError(403, "Forbidden", "no"))],
      ["fails", ({ watch }) => watch.end(new ApiError(500, "InternalError", "no"))],
      ["has too much to do", ({ watch }) => watch.end(new ApiError(429, "TooManyRequests", "no"))],
    ];
    for (const streamsList of [true, false]) {
      for (const [name, end] of ends) {
        const api = await synced({ streamsList });
        api.onWatch = () => end(api);
        end(api);
        for (let second = 0; second < 60; second++) await api.step(1000);
        const count = api.asked.length;
        ok(count >= 3 && count <= 16, `${name}: ${count} requests in a minute (${String(streamsList)})`);
        await api.reflector.stop();
      }
    }
  });

  it("whose version is too old, or of the future, begins with the current objects", async () => {
    for (const error of [gone(), future()]) {
      const api = await synced();
      api.answers = [items("2", "b")];
      api.watch.end(error);
      await api.settle();
      deepEqual(api.asked, ['0 list "" limit=500', '0 watch "2"']);
      deepEqual([api.events, api.lines.length], [["= b@1"], isGone(error) ? 0 : 2]);
      await api.reflector.stop();
    }
  });

  it("of a server that was restored begins with the current objects", async () => {
    const api = await synced();
    api.answers = [items("2", "b")];
    api.watch.send(bookmark("3"));
    await api.settle();
    deepEqual(api.asked, ['0 list "" limit=500', '0 watch "2"']);
    match(
      api.lines[0] ?? "",
      /the server sent resource version 3 after 5: its storage was restored to an earlier state/,
    );
    await api.reflector.stop();
  });

  it("that is refused three times is tried with a list not older than the known version", async () => {
    const api = await synced();
    const fail = () => new ApiError(500, "InternalError", "no");
    api.onWatch = (watch) => {
      if (api.lists.length < 2) watch.end(fail());
    };
    api.watch.end(fail());
    await api.step(1600);
    await api.step(3200);
    await api.step(6400);
    deepEqual(api.asked, ['1600 watch "5"', '4800 watch "5"', '11200 list "5"', '11200 watch "5"']);
    await api.reflector.stop();
  });
});

describe("storage that was set back without a word", () => {
  it("is found some seconds into the watch after a broken one", async () => {
    const api = await synced({ random: () => 0.5 });
    api.answers = [items("2", "b")];
    api.affirm = () => Promise.reject(future());
    await api.step(40_000);
    api.watch.end(refused());
    await api.step(2999);
    deepEqual(api.asked, ['40000 watch "5"']);
    await api.step(1);
    deepEqual(api.asked.slice(1), ['43000 NotOlderThan "5" limit=1', '43000 list "" limit=500', '43000 watch "2"']);
    deepEqual(api.events, ["= b@1"]);
    match(api.lines.join("\n"), /trying again Timeout: Too large resource version: 5, current: 2$/m);
    await api.step(30_000);
    equal(api.asked.length, 4);
    await api.reflector.stop();
    equal(api.clock.pending, 0);
  });

  it("is found by the version of the response, too", async () => {
    const api = await synced();
    api.answers = [items("2", "b")];
    api.affirm = () => Promise.resolve(items("4"));
    await api.step(120_000);
    deepEqual(api.asked, ['120000 NotOlderThan "5" limit=1', '120000 list "" limit=500', '120000 watch "2"']);
    await api.reflector.stop();
  });

  it("is requested after two silent minutes, and at most every half minute without a response", async () => {
    const api = await synced();
    api.watch.send(bookmark("6"));
    await api.step(100_000);
    api.watch.send(bookmark("7"));
    await api.step(119_999);
    deepEqual(api.asked, []);
    api.affirm = () => Promise.reject(refused());
    await api.step(1);
    for (let second = 0; second < 61; second++) await api.step(1000);
    deepEqual(api.asked, [
      '220000 NotOlderThan "7" limit=1',
      '250000 NotOlderThan "7" limit=1',
      '280000 NotOlderThan "7" limit=1',
    ]);
    api.affirm = () => Promise.resolve(items("7"));
    for (let second = 0; second < 140; second++) await api.step(1000);
    deepEqual(api.asked.slice(3), ['310000 NotOlderThan "7" limit=1']);
    deepEqual([api.events, api.lines], [[], []]);
    await api.reflector.stop();
  });

  it("is no matter when a change came meanwhile", async () => {
    const api = await synced();
    api.affirm = async () => {
      api.watch.send(modified("a", "6"));
      await api.settle();
      throw future();
    };
    await api.step(120_000);
    deepEqual([api.asked, api.events], [['120000 NotOlderThan "5" limit=1'], ["MODIFIED a@6"]]);
    await api.reflector.stop();
  });
});

describe("a server that is back", () => {
  const returns = () => {
    const listeners = new Set<() => void>();
    const onReturn = (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    return { presence: { onReturn }, listeners, back: () => listeners.forEach((listener) => listener()) };
  };
  /** Waits ever longer for a server that is away. */
  const away = async (api: ScriptedApi): Promise<void> => {
    api.onWatch = (watch) => watch.end(refused());
    api.watch.end(refused());
    for (let second = 0; second < 60; second++) await api.step(1000);
    api.asked.length = 0;
  };

  it("ends the wait at once; a new failure waits as before", async () => {
    const { presence, listeners, back } = returns();
    const api = await synced({ presence });
    await away(api);
    back();
    await api.step(0);
    deepEqual(api.asked, ['60000 watch "5"']);
    for (let second = 0; second < 28; second++) await api.step(1000);
    equal(api.asked.length, 1, "the wait after it is a long one");
    api.onWatch = () => undefined;
    back();
    await api.step(0);
    equal(api.asked.length, 2);
    back();
    await api.step(500);
    equal(api.asked.length, 2, "a watch that runs is left alone");
    await api.reflector.stop();
    deepEqual([listeners.size, api.clock.pending], [0, 0]);
  });

  it("ends it within some time where many wait", async () => {
    const { presence, back } = returns();
    const api = await synced({ presence, wakeWithinMs: 5000, random: () => 0.5 });
    await away(api);
    back();
    await api.step(2499);
    deepEqual(api.asked, []);
    await api.step(1);
    deepEqual(api.asked, ['62500 watch "5"']);
    await api.reflector.stop();
  });
});

describe("its owner", () => {
  it("delivers nothing after stop()", async () => {
    const api = await synced();
    const { watch } = api;
    watch.send(modified("a", "6"));
    await api.reflector.stop();
    await api.settle();
    deepEqual([api.events, api.asked], [[], []]);
    equal(watch.options.signal.aborted, true);
  });

  it("learns that it was stopped before the first set", async () => {
    const api = new ScriptedApi();
    api.reflector.start();
    await api.settle();
    await api.reflector.stop();
    equal(await api.reflector.synced, false);
  });

  it("may fail without a repeated delivery of the same objects", async () => {
    const events: string[] = [];
    const api = await synced({
      onEvent: ({ object: { metadata } }) => {
        events.push(metadata.name ?? "");
        throw new Error("ours");
      },
      transform: (node) => ({ ...node, metadata: { ...node.metadata, name: `${node.metadata.name ?? ""}!` } }),
    });
    api.watch.send(added("b", "6"), added("c", "7"));
    await api.settle();
    deepEqual([events, api.asked], [["b!", "c!"], []]);
    equal(api.lines[0], "A handler of watched objects failed ours");
    await api.reflector.stop();
  });
});
