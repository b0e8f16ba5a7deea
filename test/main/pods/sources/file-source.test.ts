// The file source on a real folder, with the real pool: an administrator's changes of manifests, and their effects.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { unlinkSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, open, rename, rm, symlink, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { LATE_TRIES } from "../../../../src/main/pods/sources/decode-deadline.js";
import type { ManifestState } from "../../../../src/main/pods/sources/manifest-state.js";
import type { PodChange } from "../../../../src/main/pods/sources/merge.js";
import { makeSources, type SourcesOptions } from "../../../../src/main/pods/sources/start-sources.js";
import { createTasksPool, TaskDeadlineError, type TasksPool } from "../../../../src/main/threads/tasks-pool.js";
import { systemClock, type Clock } from "../../../../src/shared/base/clock/clock.js";
import {
  keptLog,
  manifest,
  NO_EARLIER_PODS,
  temporaryFolder,
  until,
  type LogLine,
} from "../../../support/sources-kit.js";

const LATE_FACTOR = 4;

const pool = createTasksPool({ heapMiB: 128, log: keptLog().log, clock: systemClock });
after(() => pool.close());

/** The real pool, whose jobs a busy machine cannot make late: deadlines have tests of their own. */
const tasks: Pick<TasksPool, "run"> = {
  run: (name, job, options) => pool.run(name, job, { ...options, deadlineMs: 60_000 }),
};

interface Kit {
  folder: string;
  changes: string[];
  pods: PodChange[];
  errors: () => string[];
  warnings: () => string[];
  lines: LogLine[];
  seen: () => boolean;
  manifests: () => Iterable<ManifestState>;
}

async function start(
  t: TestContext,
  more: Partial<SourcesOptions> = {},
  prepare?: (folder: string) => Promise<unknown>,
): Promise<Kit> {
  const folder = join(await temporaryFolder(t), "manifests");
  await mkdir(folder);
  await prepare?.(folder);
  const { log, errors, warnings, lines } = keptLog();
  const pods: PodChange[] = [];
  const changes: string[] = [];
  let seen = 0;
  const sources = makeSources({
    earlier: NO_EARLIER_PODS,
    onManifests: () => undefined,
    shorten: () => false,
    staticPodPath: folder,
    nodeName: "n",
    preventAPIReferences: true,
    tasks,
    log,
    clock: systemClock,
    loop: {
      onPodChange: (change) => {
        pods.push(change);
        changes.push(`${change.kind} ${change.pod.metadata.name}`);
      },
      onSourcesSeen: () => seen++,
      onStaticSourcesSeen: () => undefined,
    },
    ...more,
  });
  sources.start();
  t.after(() => sources.stop());
  await until("all sources seen", () => seen === 1);
  const manifests = (): Iterable<ManifestState> => sources.manifests();
  return { folder, changes, pods, errors, warnings, lines, seen: () => seen === 1, manifests };
}
const count = (kit: Kit, n: number): Promise<void> =>
  until(`${n} changes, got ${kit.changes.join(", ")}`, () => kit.changes.length >= n);

test("an empty folder and a missing one are seen, with no pods", async (t) => {
  const kit = await start(t);
  assert.deepEqual(kit.changes, []);
  const missing = await start(t, { staticPodPath: join(kit.folder, "none") });
  assert.deepEqual(missing.changes, []);
});

test("a static pod that names a service account is refused, unless the gate PreventStaticPodAPIReferences is off", async (t) => {
  const put = (folder: string): Promise<void> =>
    writeFile(join(folder, "a.yaml"), manifest("a").replace("spec:", "spec:\n  serviceAccountName: builder"));
  const refused = await start(t, {}, put);
  assert.deepEqual(refused.changes, []);
  assert.match(refused.errors().join(), /serviceAccountName/);
  const accepted = await start(t, { preventAPIReferences: false }, put);
  assert.deepEqual([accepted.changes.length, accepted.errors()], [1, []]);
});

test("what is wrong with a file is known until it is mended or removed", async (t) => {
  const folder = join(await temporaryFolder(t), "manifests");
  await mkdir(folder);
  const { log } = keptLog();
  const sources = makeSources({
    earlier: NO_EARLIER_PODS,
    onManifests: () => undefined,
    shorten: () => false,
    staticPodPath: folder,
    nodeName: "n",
    preventAPIReferences: true,
    tasks,
    log,
    clock: systemClock,
    loop: { onPodChange: () => undefined, onSourcesSeen: () => undefined, onStaticSourcesSeen: () => undefined },
  });
  sources.start();
  t.after(() => sources.stop());
  const file = join(folder, "web.yaml");
  const known = (): string[] =>
    [...sources.manifests()].map(({ origin, pods, refused, warnings }) => {
      assert.equal(origin, file);
      const said = refused === undefined ? warnings : [refused, ...refused.claims.map((message) => ({ message }))];
      return [...pods.map(({ metadata }) => metadata.name), ...said.map(({ message }) => message)].join(" | ");
    });
  const stated = (expected: string[]): Promise<void> =>
    until(`${expected.join()}; it is ${known().join()}`, () => JSON.stringify(known()) === JSON.stringify(expected));
  await writeFile(file, manifest("My_Web"));
  await stated([
    'metadata.name: invalid value "My_Web"; allowed: a DNS name: lower-case letters, digits, "-" and ".", at most 253 characters, a letter or digit at both ends of each part | default/My_Web',
  ]);
  await writeFile(file, manifest("web", "comand: [x]"));
  await stated(['web-n | spec.containers[0].comand: unknown field, ignored (did you mean "command"?)']);
  await writeFile(file, manifest("web"));
  await stated(["web-n"]);
  await unlink(file);
  await stated([]);
  await symlink("/nonexistent", file);
  await stated(["its symbolic link leads nowhere"]);
  await unlink(file);
  await stated([]);
});

test("a manifest whose file name is no UTF-8 is refused with what to do, until it is renamed", async (t) => {
  const latin1 = (folder: string): Buffer =>
    Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9, 0x2e, 0x79])]);
  const kit = await start(t, { fileCheckFrequencyMs: 50 }, async (folder) => {
    await writeFile(latin1(folder), manifest("cafe"));
    await writeFile(join(folder, "\ufffd.yaml"), manifest("odd"));
  });
  assert.deepEqual(kit.changes, ["add odd-n"]);
  assert.equal(kit.errors().length, 1);
  assert.match(kit.errors()[0] ?? "", /manifests\/caf\ufffd\.y: its file name is not UTF-8: rename it/);
  const refusals = (): unknown[] => [...kit.manifests()].flatMap(({ refused }) => refused?.message ?? []);
  assert.deepEqual(refusals(), ["its file name is not UTF-8: rename it, and its pod starts"]);
  await rename(latin1(kit.folder), join(kit.folder, "café.yaml"));
  await count(kit, 2);
  await until("no refusal", () => refusals().length === 0);
});

test("present manifests come before sourcesSeen, in the order of names; dot files and folders do not count", async (t) => {
  const kit = await start(t, {}, async (folder) => {
    await writeFile(join(folder, "b.yaml"), manifest("b"));
    await writeFile(
      join(folder, "a.json"),
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`,
    );
    await writeFile(join(folder, ".hidden.yaml"), manifest("hidden"));
    await mkdir(join(folder, "sub"));
  });
  assert.deepEqual([...kit.changes].sort(), ["add a-n", "add b-n"]);
  assert.deepEqual(kit.errors(), []);
});

/** The pool on a machine so busy that the first `count` jobs miss their deadlines. */
function slowPool(count: number): { tasks: Pick<TasksPool, "run">; deadlines: number[] } {
  const deadlines: number[] = [];
  const run: TasksPool["run"] = (name, job, options) => {
    deadlines.push(options.deadlineMs);
    if (deadlines.length > count) return tasks.run(name, job, options);
    return Promise.reject(new TaskDeadlineError(name, options.deadlineMs));
  };
  return { tasks: { run }, deadlines };
}

test("a manifest that is read too slowly at the start is no reason to think that it has no pod", async (t) => {
  const slow = slowPool(LATE_TRIES - 1);
  const kit = await start(t, { tasks: slow.tasks }, (folder) => writeFile(join(folder, "a.yaml"), manifest("a")));
  assert.deepEqual(kit.changes, ["add a-n"], "the pod comes before sourcesSeen");
  const [first = 0] = slow.deadlines;
  assert.deepEqual(slow.deadlines, [first, LATE_FACTOR * first]);
  assert.equal(kit.errors().length, 1, "said once");
});

test("a manifest that stays unreadable holds up the others for a few tries only", async (t) => {
  const slow = slowPool(Infinity);
  const kit = await start(t, { tasks: slow.tasks }, async (folder) => {
    await writeFile(join(folder, "a.yaml"), manifest("a"));
    await utimes(join(folder, "a.yaml"), 1, 1);
  });
  assert.deepEqual(kit.changes, []);
  assert.equal(slow.deadlines.length, LATE_TRIES);
});

test("create, edit, rename-over, same content again, delete", async (t) => {
  const kit = await start(t);
  const file = join(kit.folder, "web.yaml");
  await writeFile(file, manifest("web"));
  await count(kit, 1);
  await writeFile(file, manifest("web", "tty: true"));
  await count(kit, 3);
  await writeFile(join(kit.folder, ".new"), manifest("web", "tty: false"));
  await rename(join(kit.folder, ".new"), file);
  await count(kit, 5);
  await writeFile(file, manifest("web", "tty: false"));
  await utimes(file, new Date(), new Date());
  await unlink(file);
  await count(kit, 6);
  assert.deepEqual(kit.changes, [
    "add web-n",
    "remove web-n",
    "add web-n",
    "remove web-n",
    "add web-n",
    "remove web-n",
  ]);
  assert.notEqual(kit.pods[0]?.pod.metadata.uid, kit.pods[2]?.pod.metadata.uid);
});

test("removed and written again at once: the same pod is removed and added; renamed over, it stays", async (t) => {
  const kit = await start(t);
  const file = join(kit.folder, "web.yaml");
  const again = join(kit.folder, ".again");
  await writeFile(file, manifest("web"));
  await count(kit, 1);
  await writeFile(again, manifest("web"));
  await rename(again, file);
  unlinkSync(file);
  writeFileSync(file, manifest("web"));
  await count(kit, 3);
  await writeFile(again, manifest("web"));
  await rename(again, file);
  await unlink(file);
  await count(kit, 4);
  assert.deepEqual(kit.changes, ["add web-n", "remove web-n", "add web-n", "remove web-n"]);
  assert.equal(kit.pods[0]?.pod.metadata.uid, kit.pods[2]?.pod.metadata.uid);
});

test("with an explicit uid an edit is an update", async (t) => {
  const kit = await start(t);
  const file = join(kit.folder, "web.yaml");
  const text = manifest("web").replace("name: web", "name: web\n  uid: u-1");
  await writeFile(file, text);
  await count(kit, 1);
  await writeFile(file, text.replace("busybox:1.36", "busybox:1.37"));
  await count(kit, 2);
  assert.deepEqual(kit.changes, ["add web-n", "update web-n"]);
});

test("a half-written file is waited for and not reported", async (t) => {
  // While it is written, no second passes without a write, however busy the machine is.
  const begun = { now: systemClock.now(), monotonic: systemClock.monotonic() };
  let written = false;
  const clock: Clock = {
    ...systemClock,
    now: () => (written ? systemClock.now() : begun.now),
    monotonic: () => (written ? systemClock.monotonic() : begun.monotonic),
  };
  const kit = await start(t, { clock });
  const file = join(kit.folder, "web.yaml");
  const text = manifest("web");
  const handle = await open(file, "w");
  for (let at = 0; at < text.length; at += 40) {
    await handle.write(text.slice(at, at + 40));
    await systemClock.sleep(10);
  }
  await handle.close();
  written = true;
  await until("the whole pod", () =>
    kit.pods.some((one) => one.kind === "add" && one.pod.spec.containers[0]?.image === "busybox:1.36"),
  );
  assert.deepEqual(kit.errors(), []);
});

test("a broken edit is reported once and keeps the last good pod; the fix is taken; removal removes", async (t) => {
  const kit = await start(t);
  const file = join(kit.folder, "web.yaml");
  await writeFile(file, manifest("web"));
  await count(kit, 1);
  const broken = manifest("web", "imagePullPolicy: Alwayss");
  await writeFile(file, broken);
  await until("the error", () => kit.errors().length > 0);
  await writeFile(file, broken);
  await utimes(file, new Date(0), new Date(0));
  await systemClock.sleep(100);
  assert.deepEqual(kit.changes, ["add web-n"]);
  assert.equal(kit.errors().length, 1);
  assert.match(
    kit.errors()[0]!,
    /web\.yaml:9:22: spec\.containers\[0\]\.imagePullPolicy: unsupported value "Alwayss"; allowed: .*keeps running$/,
  );
  const line = kit.lines.find((one) => one.level === 50) as LogLine & { violations: { line: number }[] };
  assert.equal(line.violations[0]?.line, 9);
  await writeFile(file, manifest("web", "imagePullPolicy: Always"));
  await count(kit, 3);
  await writeFile(file, "broken");
  await unlink(file);
  await count(kit, 4);
  assert.equal(kit.changes[3], "remove web-n");
});

test("two broken files: one error each, the good one runs, and all are seen", async (t) => {
  const kit = await start(t, {}, async (folder) => {
    await writeFile(join(folder, "a.yaml"), "a: [");
    await writeFile(join(folder, "b.yaml"), "kind: Deployment\napiVersion: apps/v1\n");
    await writeFile(join(folder, "c.yaml"), manifest("c"));
  });
  assert.deepEqual(kit.changes, ["add c-n"]);
  assert.equal(kit.errors().length, 2);
});

test("symlinks: followed; a loop, a dangling one, a FIFO and a huge file are one error each", async (t) => {
  const kit = await start(t, {}, async (folder) => {
    await writeFile(join(folder, "..", "target.yaml"), manifest("linked"));
    await symlink("../target.yaml", join(folder, "link.yaml"));
    await symlink("loop2.yaml", join(folder, "loop1.yaml"));
    await symlink("loop1.yaml", join(folder, "loop2.yaml"));
    await symlink("nowhere", join(folder, "dangling.yaml"));
    await promisify(execFile)("mkfifo", [join(folder, "fifo.yaml")]);
    await writeFile(join(folder, "huge.yaml"), "");
    await truncate(join(folder, "huge.yaml"), 11 * 1024 * 1024);
  });
  assert.deepEqual(kit.changes, ["add linked-n"]);
  const errors = kit.errors().sort();
  assert.equal(errors.length, 5, errors.join("\n"));
  for (const [index, sentence] of [/leads nowhere/, /regular file/, /10 MiB/, /loop/, /loop/].entries())
    assert.match(errors[index]!, sentence);
});

test("the folder removed and made again: pods go and come", async (t) => {
  const kit = await start(t, { fileCheckFrequencyMs: 300 });
  const file = join(kit.folder, "web.yaml");
  await writeFile(file, manifest("web"));
  await count(kit, 1);
  await rm(kit.folder, { recursive: true });
  await count(kit, 2);
  await mkdir(kit.folder);
  await writeFile(file, manifest("web"));
  await count(kit, 3);
  assert.deepEqual(kit.changes, ["add web-n", "remove web-n", "add web-n"]);
  // The new folder is watched again, not only scanned.
  await until("the watch on the new folder", () => kit.seen());
  await unlink(file);
  await count(kit, 4);
});

test("a path that is a file: only this file, through rename-over and removal", async (t) => {
  const outside = await temporaryFolder(t);
  const file = join(outside, "pod.yaml");
  await writeFile(file, manifest("one"));
  await writeFile(join(outside, "other.yaml"), manifest("other"));
  const kit = await start(t, { staticPodPath: file });
  await count(kit, 1);
  await writeFile(join(outside, "new"), manifest("two"));
  await rename(join(outside, "new"), file);
  await count(kit, 3);
  await unlink(file);
  await count(kit, 4);
  assert.deepEqual(kit.changes, ["add one-n", "remove one-n", "add two-n", "remove two-n"]);
});

test("a large manifest is read whole", async (t) => {
  const kit = await start(t);
  const file = join(kit.folder, "web.yaml");
  await writeFile(file, manifest("web"));
  await appendFile(file, "# padding\n".repeat(20_000));
  await count(kit, 1);
  assert.deepEqual(kit.errors(), []);
});

test("after stop nothing is delivered", async (t) => {
  const folder = await temporaryFolder(t);
  let changes = 0;
  const sources = makeSources({
    earlier: NO_EARLIER_PODS,
    onManifests: () => undefined,
    shorten: () => false,
    staticPodPath: folder,
    nodeName: "n",
    preventAPIReferences: true,
    tasks,
    log: keptLog().log,
    clock: systemClock,
    loop: {
      onPodChange: () => changes++,
      onSourcesSeen: () => undefined,
      onStaticSourcesSeen: () => undefined,
    },
  });
  sources.start();
  await until("seen", () => sources.allSourcesSeen());
  await writeFile(join(folder, "a.yaml"), manifest("a"));
  await sources.stop();
  const before = changes;
  await writeFile(join(folder, "b.yaml"), manifest("b"));
  await systemClock.sleep(50);
  assert.equal(changes, before);
});
