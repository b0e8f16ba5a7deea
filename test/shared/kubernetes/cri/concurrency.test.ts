// Per-verb limits: never more at once than allowed, in order, with deadline and abort honoured in the queue.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { ProcessorTimes } from "../../../../src/shared/io/os/processor-times.js";
import { CriCancelledError, CriDeadlineExceededError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { Limiter } from "../../../../src/shared/kubernetes/cri/limiter.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { pair, podConfig } from "./support.js";

test("at most so many calls of the verb run at once, other verbs are not held up, order is kept", async (context) => {
  const { client, fake, records } = await pair(
    context,
    { latency: { RunPodSandbox: 20 } },
    { concurrency: { RunPodSandbox: 2 } },
  );
  const names = ["a", "b", "c", "d", "e", "f"];
  fake.failpoint("RunPodSandbox", "hang");
  const runs = names.map((name) => client.runPodSandbox({ config: podConfig(name) }));
  // It does not wait for the queue, in which no call ends yet.
  await client.version({});
  const begun = (): number => fake.calls.filter((call) => call.verb === "RunPodSandbox").length;
  await until("both slots are taken", () => begun() === 2);
  fake.failpoint("RunPodSandbox", "off");
  await Promise.all(runs);
  const calls = fake.calls.filter((call) => call.verb === "RunPodSandbox");
  for (const call of calls) {
    const during = calls.filter(
      (other) => other.startedAt <= call.startedAt && (other.endedAt ?? Infinity) > call.startedAt,
    );
    assert.ok(during.length <= 2, `${during.length} at once`);
  }
  const order = calls.map((call) => (call.request as { config: { metadata: { name: string } } }).config.metadata.name);
  assert.deepEqual(order, names);
  assert.ok((records.at(-1)?.queuedMs ?? 0) >= 35, "queueing is reported apart from the call");
});

test("thousands of commands that hang leave the connection to all other calls", async (context) => {
  const { client, fake } = await pair(context, {}, { concurrency: { StopContainer: 1 } });
  fake.failpoint("ExecSync", "hang");
  const ending = new AbortController();
  const commands = Array.from({ length: 2000 }, () =>
    client.execSync({ containerId: "c", cmd: ["sleep"], timeout: 0n }, { signal: ending.signal }),
  );
  const settled = Promise.allSettled(commands);
  await until("all are under way", () => fake.calls.filter(({ verb }) => verb === "ExecSync").length === 2000);
  await client.version({});
  assert.deepEqual((await client.listContainers({})).containers, []);
  ending.abort(new Error("the test is over"));
  await settled;
});

test("waiting counts against the caller's deadline, and an abort leaves the queue; neither is ever sent", async (context) => {
  const { client, fake } = await pair(context, {}, { concurrency: { ListImages: 1 } });
  fake.failpoint("ListImages", "1*hang");
  const first = client.listImages({});
  await until("the first call holds the slot", () => fake.calls.length === 1);
  const controller = new AbortController();
  const aborted = client.listImages({}, { signal: controller.signal });
  const late = client.listImages({}, { deadlineMs: 30 });
  const patient = client.listImages({});
  await assert.rejects(late, CriDeadlineExceededError);
  controller.abort();
  await assert.rejects(aborted, CriCancelledError);
  assert.equal(fake.calls.length, 1);
  fake.failpoint("ListImages", "off");
  await first;
  await patient;
  assert.equal(fake.calls.length, 2);
});

test("waiting does not count against the deadline of the verb", async (context) => {
  const clock = new SteppedClock();
  clock.step(Date.now()); // gRPC compares deadlines with the real time
  const { client, fake } = await pair(context, {}, { concurrency: { ListImages: 1 }, clock });
  fake.failpoint("ListImages", "hang");
  const all = Array.from({ length: 7 }, () => client.listImages({}));
  for (let sent = 1; sent <= all.length; sent++) {
    await until(`call ${sent} is sent`, () => fake.calls.length === sent);
    // A long call leaves its place after two seconds: the last one waits longer than its deadline of ten.
    clock.step(2000);
  }
  fake.failpoint("ListImages", "off");
  await Promise.all(all);
});

test("a call that takes long leaves its place to the next one", async (context) => {
  const clock = new SteppedClock();
  clock.step(Date.now()); // gRPC compares deadlines with the real time
  const { client, fake } = await pair(context, {}, { concurrency: { ListImages: 1 }, clock });
  await client.version({});
  fake.failpoint("ListImages", "hang");
  const calls = (): number => fake.calls.filter(({ verb }) => verb === "ListImages").length;
  const all = [1, 2, 3].map(() => client.listImages({}));
  await until("the first call is sent", () => calls() === 1);
  clock.step(1999);
  await client.version({});
  assert.equal(calls(), 1);
  clock.step(1);
  await until("the second call is sent", () => calls() === 2);
  fake.failpoint("ListImages", "off");
  await Promise.all(all);
  assert.equal(calls(), 3);
  assert.equal(clock.pending, 0);
});

test("an urgent call goes before those that wait", async (context) => {
  const { client, fake } = await pair(context, {}, { concurrency: { RunPodSandbox: 1 } });
  fake.failpoint("RunPodSandbox", "1*hang");
  const sent: string[] = [];
  const run = (name: string, urgent: boolean): Promise<unknown> =>
    client.runPodSandbox({ config: podConfig(name) }, { urgent, onSent: () => sent.push(name) });
  const first = run("first", false);
  await until("the first call is sent", () => fake.calls.some(({ verb }) => verb === "RunPodSandbox"));
  const others = [run("second", false), run("third", false), run("urgent", true), run("urgent-too", true)];
  assert.deepEqual(sent, ["first"]);
  fake.failpoint("RunPodSandbox", "off");
  await Promise.all([first, ...others]);
  assert.deepEqual(sent, ["first", "urgent", "urgent-too", "second", "third"]);
});

test("calls that wait are sent while processors are idle", async (context) => {
  let idle = 0;
  const readTimes = (): Promise<ProcessorTimes> => Promise.resolve({ busy: 0, all: (idle += 100), idle });
  const processors = { count: 2, readTimes };
  const concurrency = { RunPodSandbox: { from: 1, to: 3, processors } };
  const { client, fake } = await pair(context, {}, { concurrency });
  fake.failpoint("RunPodSandbox", "hang");
  const runs = ["a", "b", "c", "d"].map((name) => client.runPodSandbox({ config: podConfig(name) }));
  const sent = (): number => fake.calls.filter(({ verb }) => verb === "RunPodSandbox").length;
  await until("the limit has grown to its bound", () => sent() === 3);
  fake.failpoint("RunPodSandbox", "off");
  await Promise.all(runs);
  assert.equal(sent(), 4);
});

test("a limit for an unknown verb or below one is refused", async (context) => {
  await assert.rejects(pair(context, {}, { concurrency: { listImages: 1 } as never }), /has no such call/);
  await assert.rejects(pair(context, {}, { concurrency: { ListImages: 0 } }), RangeError);
});

test("limiter, any interleaving: bounded, first come first served, nothing lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom("enter", "leave", "abort"), { maxLength: 60 }),
      async (limit, steps) => {
        const limiter = new Limiter(limit, systemClock);
        const queue: { id: number; controller: AbortController }[] = []; // the model: who waits, in order
        const granted: number[] = [];
        const expected: number[] = [];
        let running = 0;
        let id = 0;
        for (const step of steps) {
          if (step === "enter") {
            const controller = new AbortController();
            const mine = id++;
            limiter.acquire({ signal: controller.signal }).then(
              () => granted.push(mine),
              () => undefined,
            );
            if (running < limit) {
              running++;
              expected.push(mine);
            } else queue.push({ id: mine, controller });
          } else if (step === "leave" && running > 0) {
            limiter.release();
            const next = queue.shift();
            if (next === undefined) running--;
            else expected.push(next.id);
          } else if (step === "abort") queue.pop()?.controller.abort();
          await new Promise((resolve) => setImmediate(resolve));
          assert.deepEqual(granted, expected);
          assert.equal(limiter.running, running);
          assert.equal(limiter.waiting, queue.length);
        }
      },
    ),
    { numRuns: 60 },
  );
});
