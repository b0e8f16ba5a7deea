// A running kubelet whose configuration changes: real store, virtual time, a source the test edits.

import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import type { ConfigFiles } from "../../../../src/main/process/dynamic-config/config-files.js";
import type { DynamicConfig } from "../../../../src/main/process/dynamic-config/dynamic-config.js";
import {
  followConfiguration,
  type FollowedConfig,
  type FollowOptions,
} from "../../../../src/main/process/dynamic-config/follow.js";
import { until } from "../../../support/sources-kit.js";
import type { SteppedClock } from "../../../support/stepped-clock.js";
import { digest, Node, textOfActive } from "./kit.js";

const TRIAL_MS = 10 * 60_000;
const SETTLE_MS = 500;
const NEVER_HEALTHY_MS = 5 * 60_000;
const MIN_RESTART_MS = 5_000;
const LONGEST_WAIT_MS = 5_000;

interface Running {
  node: Node & { clock: SteppedClock };
  dynamic: DynamicConfig;
  followed: FollowedConfig;
  restarts: string[];
  applied: string[][];
  health: { now: boolean };
}

/** Texts are lists of words; each word that differs is a changed path. */
function changedPaths(before: ConfigFiles, after: ConfigFiles): Promise<string[]> {
  const words = (files: ConfigFiles): string[] => (files.config?.text ?? "").split(" ").filter((word) => word !== "");
  const [old, fresh] = [words(before), words(after)];
  const changed = [...old.filter((word) => !fresh.includes(word)), ...fresh.filter((word) => !old.includes(word))];
  return Promise.resolve(changed.map((word) => word.split("=")[0] ?? ""));
}

async function running(t: TestContext, text: string, options: Partial<FollowOptions> = {}): Promise<Running> {
  const node = await Node.make(t, text);
  const dynamic = await node.startAndProve();
  return follow(node, dynamic, options);
}

function follow(
  node: Node & { clock: SteppedClock },
  dynamic: DynamicConfig,
  options: Partial<FollowOptions> = {},
): Running {
  const restarts: string[] = [];
  const applied: string[][] = [];
  const health = { now: true };
  const followed = followConfiguration(dynamic, {
    healthy: () => health.now,
    restartInPlace: (reason) => {
      restarts.push(reason);
      // The end of the process: nothing settles.
      return new Promise<never>(() => undefined);
    },
    changedPaths,
    eventsSent: () => Promise.resolve(),
    applyInPlace: (changed) => {
      applied.push([...changed]);
      return Promise.resolve(true);
    },
    ...options,
  });
  node.ends.unshift(() => followed.stop());
  return { node, dynamic, followed, restarts, applied, health };
}

/** Steps virtual time until the condition holds; file work in between takes real time. */
async function stepUntil(
  { clock }: { clock: SteppedClock },
  what: string,
  test: () => boolean,
  ms = 100,
): Promise<void> {
  await until(what, () => {
    if (test()) return true;
    clock.step(ms);
    return false;
  });
}

test("a good change is checkpointed, assigned and reported, and causes one restart", async (t) => {
  const { node, dynamic, restarts } = await running(t, "maxPods=1");
  node.clock.step(MIN_RESTART_MS);
  node.source.edit("maxPods=2");
  await stepUntil(node, "a restart", () => restarts.length > 0);
  const two = await digest("maxPods=2");
  assert.match(restarts[0] ?? "", new RegExp(two.slice(0, 12)));
  assert.equal(dynamic.meta.get("assigned")?.digest, two);
  assert.equal((await dynamic.checkpoints.load(two))?.config?.text, "maxPods=2");
  assert.deepEqual(
    node.events.map(({ type, reason }) => [type, reason]),
    [["Normal", "KubeletConfigChanged"]],
  );
  assert.equal(textOfActive(dynamic), "maxPods=1");
  assert.equal(textOfActive(await node.start()), "maxPods=2");
});

test("an edit in several writes is looked at once", async (t) => {
  const { node, restarts } = await running(t, "a=1");
  node.clock.step(MIN_RESTART_MS);
  for (let i = 0; i < 8; i++) {
    node.source.edit(`a=1 part=${i}`);
    node.clock.step(SETTLE_MS - 1);
  }
  assert.equal(node.source.reads, 1);
  node.source.edit("a=2");
  node.clock.step(SETTLE_MS);
  await until("a restart", () => restarts.length > 0);
  assert.equal(node.source.reads, 2);
});

test("a source that keeps changing is read after the longest wait", async (t) => {
  const { node } = await running(t, "a=1");
  let waited = 0;
  while (node.source.reads < 2) {
    node.source.edit("a=2");
    node.clock.step(SETTLE_MS - 100);
    waited += SETTLE_MS - 100;
    assert(waited <= LONGEST_WAIT_MS + SETTLE_MS, "waited too long");
  }
  assert(waited >= LONGEST_WAIT_MS);
});

test("a bad change is refused and reported once, and the old configuration stays", async (t) => {
  const { node, dynamic, restarts } = await running(t, "a=1");
  node.clock.step(MIN_RESTART_MS);
  node.source.edit("invalid: a=x");
  await stepUntil(node, "a refusal", () => node.events.length > 0);
  assert.deepEqual([node.events[0]?.type, node.events[0]?.reason], ["Warning", "NodeConfigError"]);
  assert.match(node.events[0]?.message ?? "", /is not valid: .*kubelet.yaml:1:1: invalid: a=x/);
  assert.equal(dynamic.status().assigned?.digest, await digest("a=1"));
  const { validations } = node;
  const reads = node.source.reads;
  node.source.edit("invalid: a=x");
  await stepUntil(node, "another look", () => node.source.reads > reads);
  node.source.edit("a=1");
  await stepUntil(node, "the error to go", () => dynamic.status().error === undefined);
  assert.equal(node.validations, validations);
  assert.equal(node.events.length, 1);
  assert.deepEqual(restarts, []);
  await dynamic.flush();
  const status = JSON.parse(await readFile(node.path("meta", "status.json"), "utf8")) as Record<string, unknown>;
  assert.equal("error" in status, false);
});

test("a source unreadable once is ignored; unreadable twice, it is reported", async (t) => {
  const { node, dynamic } = await running(t, "a=1");
  node.source.edit(undefined);
  await stepUntil(node, "one look", () => node.source.reads > 1);
  assert.deepEqual(node.events, []);
  await stepUntil(node, "the report", () => node.events.length > 0);
  assert.match(dynamic.status().error ?? "", /cannot be read: it does not exist/);
  const { reads } = node.source;
  node.source.edit(undefined);
  await stepUntil(node, "a look more", () => node.source.reads > reads);
  node.source.edit("a=1");
  await stepUntil(node, "the error to go", () => dynamic.status().error === undefined);
  assert.equal(node.events.length, 1);
});

test("a configuration marked bad is not assigned again", async (t) => {
  const { node, dynamic, restarts } = await running(t, "a=1");
  await dynamic.meta.markBad(await digest("a=2"), "failed: x");
  node.clock.step(MIN_RESTART_MS);
  node.source.edit("a=2");
  await stepUntil(node, "a refusal", () => node.events.length > 0);
  assert.match(node.events[0]?.message ?? "", /is refused since/);
  assert.equal(dynamic.status().assigned?.digest, await digest("a=1"));
  assert.deepEqual(restarts, []);
});

test("after a roll-back the start has reported the reason; the follower adds nothing", async (t) => {
  const node = await Node.make(t, "a=1");
  await node.startAndProve();
  node.source.text = "a=2";
  await (await node.start()).startFailed("x");
  const dynamic = await node.start();
  assert.equal(node.events.length, 1);
  const { restarts } = follow(node, dynamic);
  node.source.edit("a=2");
  await stepUntil(node, "a look", () => node.source.reads > 4 || node.clock.now() > 60_000);
  assert.equal(node.events.length, 1);
  assert.deepEqual(restarts, []);
});

test("fields that allow it change in place; a comment changes nothing; both become a trial", async (t) => {
  const { node, dynamic, restarts, applied } = await running(t, "a=1 logging.verbosity=2");
  node.source.edit("a=1 logging.verbosity=4");
  await stepUntil(node, "a change in place", () => textOfActive(dynamic) === "a=1 logging.verbosity=4");
  assert.deepEqual(applied, [["logging.verbosity", "logging.verbosity"]]);
  assert.deepEqual(dynamic.meta.get("trial")?.digest, await digest("a=1 logging.verbosity=4"));
  node.source.edit("a=1  logging.verbosity=4");
  await stepUntil(node, "the new text", () => textOfActive(dynamic) === "a=1  logging.verbosity=4");
  assert.equal(applied.length, 1);
  await until("both events", () => node.events.length === 2);
  assert.deepEqual(restarts, []);
  assert.deepEqual(
    node.events.map(({ reason }) => reason),
    ["KubeletConfigChanged", "KubeletConfigChanged"],
  );
  const spaced = await digest("a=1  logging.verbosity=4");
  await stepUntil(node, "the trial's end", () => dynamic.meta.get("last-known-good")?.digest === spaced, TRIAL_MS / 20);
});

test("a change in place that is not accepted, or not of such a field, restarts", async (t) => {
  for (const text of ["logging.verbosity=4", "logging.verbosity=4 a=2", "logging.format=json"]) {
    const one = await running(t, "logging.verbosity=2", { applyInPlace: () => Promise.resolve(false) });
    one.node.source.edit(text);
    await stepUntil(one.node, "a restart", () => one.restarts.length > 0);
    assert.equal(textOfActive(one.dynamic), "logging.verbosity=2");
  }
});

test("no restart within ten seconds of the start; an edit meanwhile replaces the one that waits", async (t) => {
  const { node, dynamic, restarts } = await running(t, "a=1");
  node.source.edit("a=2");
  const two = await digest("a=2");
  const three = await digest("a=3");
  await stepUntil(node, "the assignment", () => dynamic.meta.get("assigned")?.digest === two);
  assert(node.clock.now() < MIN_RESTART_MS);
  node.source.edit("a=3");
  await stepUntil(node, "a restart", () => restarts.length > 0);
  assert(node.clock.now() >= MIN_RESTART_MS);
  assert.equal(restarts.length, 1);
  assert.match(restarts[0] ?? "", new RegExp(three.slice(0, 12)));
});

test("an edit that is taken back before the restart restarts nothing", async (t) => {
  const { node, dynamic, restarts } = await running(t, "a=1");
  node.source.edit("a=2");
  const [one, two] = [await digest("a=1"), await digest("a=2")];
  await stepUntil(node, "the assignment", () => dynamic.meta.get("assigned")?.digest === two);
  node.source.edit("a=1");
  await stepUntil(node, "the old assignment", () => dynamic.meta.get("assigned")?.digest === one);
  node.clock.step(2 * MIN_RESTART_MS);
  assert.deepEqual(restarts, []);
});

test("the event of a restart that the API server did not get in time is sent by the next process, once", async (t) => {
  const node = await Node.make(t, "a=1");
  const first = follow(node, await node.startAndProve(), { eventsSent: () => new Promise<void>(() => undefined) });
  node.source.edit("a=2");
  await stepUntil(node, "a restart", () => first.restarts.length > 0);
  await first.followed.stop();
  const dynamic = await node.start();
  const before = node.events.length;
  let send = (): void => undefined;
  const sent = new Promise<void>((resolve) => (send = resolve));
  const second = follow(node, dynamic, { eventsSent: () => sent });
  assert.deepEqual(node.events.slice(before), [node.events[before - 1]]);
  assert.equal(dynamic.meta.get("announcement")?.sent, false);
  send();
  await until("the record to go", () => dynamic.meta.get("announcement")?.sent === true);
  await second.followed.stop();
  const last = node.events.length;
  follow(node, await node.start());
  assert.equal(node.events.length, last);
});

test("a process killed between the assignment and the restart: the next one sends the event", async (t) => {
  const node = await Node.make(t, "a=1");
  await node.startAndProve();
  node.source.text = "a=2";
  const { followed } = follow(node, await node.start());
  const two = (await digest("a=2")).slice(0, 12);
  assert.deepEqual(
    node.events.map(({ reason, message }) => [reason, message]),
    [["KubeletConfigChanged", `the kubelet restarts, applying configuration ${two}`]],
  );
  await followed.stop();
  follow(node, await node.start());
  assert.equal(node.events.length, 1);
});

test("an event that was sent in time is not sent again", async (t) => {
  const { node, restarts, followed } = await running(t, "a=1");
  node.source.edit("a=2");
  await stepUntil(node, "a restart", () => restarts.length > 0);
  await followed.stop();
  const { meta } = await node.start();
  assert.equal(meta.get("announcement")?.sent, true);
});

test("many changed configurations make restarts rare, over all processes; a roll-back does not wait", async (t) => {
  const node = await Node.make(t, "a=0");
  await node.startAndProve();
  const times: number[] = [];
  const waits = (): string[] => node.kept.warnings().filter((line) => line.includes("a changed configuration waits"));
  for (let change = 1; change <= 7; change++) {
    const dynamic = await node.start();
    const { restarts, followed } = follow(node, dynamic);
    const before = waits().length;
    node.clock.step(MIN_RESTART_MS);
    node.source.edit(`a=${change}`);
    node.clock.step(SETTLE_MS);
    // Virtual time stands still while files are written: with it the wait could be over before it is reported.
    await until("a restart, or its wait", () => restarts.length > 0 || waits().length > before);
    await stepUntil(node, "a restart", () => restarts.length > 0, 1000);
    // The kubelet's own record: the clock has gone on when the test sees the restart.
    times.push(dynamic.meta.get("restarts")?.times.at(-1) ?? NaN);
    await followed.stop();
  }
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // The first three did not wait.
  assert.equal(waits().length, 4);
  for (const [index, least] of [20_000, 40_000, 80_000, 160_000].entries())
    assert.ok((gaps[index + 2] ?? 0) >= least, gaps.join());
  const { health, restarts } = follow(node, await node.start());
  health.now = false;
  node.clock.step(NEVER_HEALTHY_MS);
  // Virtual time stands still from here on.
  await until("the roll-back", () => restarts.length > 0);
});

test("a restart that fails is reported and tried again at the next look", async (t) => {
  let failures = 0;
  const { node, dynamic } = await running(t, "a=1", {
    restartInPlace: () => {
      failures++;
      return Promise.reject(new Error("execve: E2BIG"));
    },
  });
  node.source.edit("a=2");
  await stepUntil(node, "the report", () => dynamic.status().error !== undefined);
  assert.match(dynamic.status().error ?? "", /the restart failed .*execve: E2BIG; restart the kubelet manually/);
  node.source.edit("a=2");
  await stepUntil(node, "another try", () => failures > 1);
});

test("stop within the restart does not wait for it, and an end in order does not count", async (t) => {
  const node = await Node.make(t, "a=1");
  await node.startAndProve();
  node.source.text = "a=2";
  const dynamic = await node.start();
  assert.equal(dynamic.meta.get("trial")?.starts, 1);
  const stopped: string[] = [];
  const { followed } = follow(node, dynamic, {
    restartInPlace: async () => {
      await followed.stop();
      stopped.push("stopped");
      return new Promise<never>(() => undefined);
    },
  });
  node.source.edit("a=3");
  await stepUntil(node, "the stop", () => stopped.length > 0);
  assert.equal(dynamic.meta.get("trial")?.starts, 0);
  assert.equal(node.clock.pending, 0);
  assert.equal(node.source.watchers.size, 0);
});

test("stopped while a restart waits: no restart, no timer, nothing unhandled", async (t) => {
  const { node, dynamic, followed, restarts } = await running(t, "a=1");
  node.source.edit("a=2");
  const two = await digest("a=2");
  await stepUntil(node, "the assignment", () => dynamic.meta.get("assigned")?.digest === two);
  await followed.stop();
  node.clock.step(2 * MIN_RESTART_MS);
  assert.deepEqual(restarts, []);
  assert.equal(node.clock.pending, 0);
  assert.equal(dynamic.status().error, undefined);
});

test("ten healthy minutes make the configuration on trial the last known good one", async (t) => {
  const node = await Node.make(t, "a=1");
  await node.startAndProve();
  node.source.text = "a=2";
  const dynamic = await node.start();
  follow(node, dynamic);
  node.clock.step(TRIAL_MS - 1);
  assert.equal(dynamic.status().lastKnownGood?.digest, await digest("a=1"));
  node.clock.step(10_000);
  await until("the promotion", () => dynamic.meta.get("trial") === undefined);
  assert.equal(dynamic.status().lastKnownGood?.digest, await digest("a=2"));
});

test("never healthy on trial: back to the last known good one by a restart", async (t) => {
  const node = await Node.make(t, "a=1");
  await node.startAndProve();
  node.source.text = "a=2";
  const { health, restarts } = follow(node, await node.start());
  health.now = false;
  node.clock.step(NEVER_HEALTHY_MS);
  await until("a restart", () => restarts.length > 0);
  const next = await node.start();
  assert.equal(textOfActive(next), "a=1");
  assert.match(next.status().error ?? "", /did not become healthy/);
});

test("never healthy with nothing to go back to: it stays, and is proven once it is healthy", async (t) => {
  const node = await Node.make(t, "a=1");
  const dynamic = await node.start();
  const { health, restarts } = follow(node, dynamic);
  health.now = false;
  node.clock.step(2 * NEVER_HEALTHY_MS);
  assert.equal(node.kept.warnings().length, 2);
  health.now = true;
  node.clock.step(TRIAL_MS + 10_000);
  await until("the promotion", () => dynamic.meta.get("last-known-good") !== undefined);
  assert.deepEqual(restarts, []);
});

test("a change that cannot be saved is reported, and the old configuration stays", async (t) => {
  const { node, dynamic, restarts } = await running(t, "a=1");
  await rm(node.path("checkpoints"), { recursive: true });
  await writeFile(node.path("checkpoints"), "in the way");
  node.source.edit("a=2");
  await stepUntil(node, "the report", () => dynamic.status().error !== undefined);
  assert.match(dynamic.status().error ?? "", /cannot apply the changed configuration: /);
  assert.equal(dynamic.status().assigned?.digest, await digest("a=1"));
  assert.deepEqual(restarts, []);
});
