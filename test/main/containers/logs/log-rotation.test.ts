// Rotation on real files with a runtime of the test's: sizes, limits, a runtime that fails, compression beside it.
// @promise Images and logs: A runtime that does not reopen a log, or does so late. No line is lost, nothing is
//   overwritten, one warning.

import assert from "node:assert/strict";
import files, { appendFile, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { LogRotation, type LogRotationDeps } from "../../../../src/main/containers/logs/log-rotation.js";
import type { RunningLog } from "../../../../src/main/containers/logs/running-logs.js";
import type { CompressLogResult } from "../../../../src/shared/contracts/tasks.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { compressLog } from "../../../../src/workers/tasks/compress-log.js";
import { waitFor } from "../../../../tools/standalone/wait.js";
import { heldBy } from "../../../support/abort-listeners.js";
import { readAll, recordText } from "../../../support/log-kit.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { hang, settle } from "../../../support/sync-kit.js";

const line = (text: string): string => recordText({ stream: "stdout", tag: "F", text, second: 1 });
const FULL = "x".repeat(1000);

interface Kit {
  folder: string;
  podLogs: string;
  clock: SteppedClock;
  rotation: LogRotation;
  reopened: string[];
  counted: string[];
  warnings: () => string[];
  /** Steps time until the condition holds. */
  until: (what: string, condition: () => Promise<boolean> | boolean) => Promise<void>;
  names: () => Promise<string[]>;
  running: RunningLog[];
  /** Times at which the running containers were listed. */
  scans: () => number;
}

async function kit(
  t: TestContext,
  changes: {
    reopen?: (path: string) => Promise<void>;
    compress?: LogRotationDeps["compress"];
    changes?: LogRotationDeps["changes"];
    maxFiles?: number;
    maxSize?: number;
  } = {},
): Promise<Kit> {
  const podLogs = await temporaryFolder(t);
  const folder = join(podLogs, "app");
  await mkdir(folder);
  const path = join(folder, "0.log");
  const clock = new SteppedClock();
  const { log, warnings } = keptLog();
  const [reopened, counted]: [string[], string[]] = [[], []];
  const running = [
    { containerId: containerIdOf("c"), path, uid: podUid("u"), namespace: "ns", pod: "p", container: "app" },
  ];
  let scans = 0;
  const rotation = new LogRotation({
    settings: {
      containerLogMaxSize: changes.maxSize ?? 500,
      containerLogMaxFiles: changes.maxFiles ?? 5,
      containerLogMaxWorkers: 1,
      containerLogMonitorIntervalMs: 10_000,
    },
    running: () => {
      scans++;
      return running;
    },
    changes: changes.changes ?? (() => scans),
    isRunning: ({ containerId }) => running.some((one) => one.containerId === containerId),
    reopen: async (id) => {
      reopened.push(id);
      await (changes.reopen ?? ((target) => writeFile(target, "")))(path);
    },
    compress: changes.compress ?? ((job) => Promise.resolve(compressLog(job))),
    counted: {
      rotation: (result) => counted.push(`rotation ${result}`),
      compression: (outcome) => counted.push(`compression ${outcome}`),
    },
    clock,
    log,
  });
  t.after(() => rotation.stop());
  return {
    folder,
    podLogs,
    clock,
    rotation,
    reopened,
    counted,
    warnings,
    running,
    scans: () => scans,
    until: async (what, condition) => {
      await waitFor(
        async () => {
          clock.step(50);
          return condition();
        },
        { what, timeoutMs: 60_000, intervalMs: 1 },
      );
    },
    names: async () => (await readdir(folder)).sort(),
  };
}

test("full logs are rotated, older ones compressed, the oldest removed; the remaining files read as one log", async (t) => {
  const { folder, podLogs, until, names, rotation, counted } = await kit(t, { maxFiles: 4 });
  for (let i = 0; i < 6; i++) {
    await appendFile(join(folder, "0.log"), line(`${i} ${FULL}`));
    const rotations = (): number => counted.filter((what) => what === "rotation ok").length;
    await until(`rotation ${i}`, () => rotations() === i + 1);
  }
  await appendFile(join(folder, "0.log"), line("new"));
  await until(
    "older files to be compressed",
    async () => (await names()).filter((n) => n.endsWith(".gz")).length === 2,
  );
  assert.equal((await names()).length, 4);
  assert.equal(await readAll(podLogs), `3 ${FULL}\n4 ${FULL}\n5 ${FULL}\nnew\n`);
  await until("the usage to be seen", async () => {
    const sizes = await Promise.all((await names()).map(async (name) => (await stat(join(folder, name))).size));
    return [...rotation.usage()].some(({ bytes }) => bytes === sizes.reduce((sum, size) => sum + size, 0));
  });
});

test("a small log stays; a container that ended keeps its last log", async (t) => {
  const { folder, until, names, rotation, running, clock, reopened } = await kit(t);
  await appendFile(join(folder, "0.log"), line("small"));
  await until("a look", () => [...rotation.usage()].length === 1);
  running.pop();
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("it to be forgotten", () => [...rotation.usage()].length === 0);
  for (let i = 0; i < 20; i++) clock.step(1000);
  await rotation.stop();
  assert.deepEqual(await names(), ["0.log"]);
  assert.deepEqual(reopened, []);
  assert.equal(clock.pending, 0, "no timer is left");
});

test("no warning comes for a log whose container ends during its rotation", async (t) => {
  const ended = kit(t, {
    reopen: async (path) => {
      const { running, folder } = await ended;
      if (path !== join(folder, "0.log")) return;
      running.pop();
      throw new Error("no such container");
    },
  });
  const { folder, until, warnings, counted } = await ended;
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("the rotation to fail", () => counted.includes("rotation failed"));
  assert.deepEqual(warnings(), []);
});

test("looks at new logs come within a second, and the running containers are listed once a second all the same", async (t) => {
  const { folder, until, rotation, clock, scans, running } = await kit(t, { maxSize: Infinity });
  const began = clock.monotonic();
  for (let number = 1; number <= 5; number++) {
    await until(`${number} logs to be looked at`, async () => {
      await appendFile(join(folder, "0.log"), "x");
      return [...rotation.usage()].length === number;
    });
    const [first] = running;
    assert.ok(first);
    running.push({ ...first, containerId: containerIdOf(`c${number}`) });
  }
  const seconds = (clock.monotonic() - began) / 1000;
  assert.ok(scans() <= seconds + 1, `${scans()} scans in ${seconds} s`);
});

test("running containers are listed again when they may be others, not before", async (t) => {
  let changes = 0;
  const { clock, scans } = await kit(t, { changes: () => changes });
  for (let second = 0; second < 10; second++) clock.step(1000);
  assert.equal(scans(), 1);
  changes++;
  clock.step(1000);
  assert.equal(scans(), 2);
});

test("a thousand logs without their files cost one list of the running containers a second", async (t) => {
  const { folder, clock, scans, running, reopened, until } = await kit(t, { reopen: () => Promise.resolve() });
  const [first] = running;
  assert.ok(first);
  for (let number = 1; number <= 1000; number++) {
    const path = join(folder, `${number}.log`);
    running.push({ ...first, containerId: containerIdOf(`c${number}`), path });
  }
  const began = clock.monotonic();
  await until("the logs to be reopened", () => reopened.length > 1000);
  assert.ok(scans() <= (clock.monotonic() - began) / 1000 + 1, `${scans()} scans`);
});

test("without a size no log is rotated, and its usage is measured", async (t) => {
  const { folder, until, names, rotation, clock, reopened, counted } = await kit(t, { maxSize: Infinity });
  for (let i = 0; i < 6; i++) await appendFile(join(folder, "0.log"), line(FULL));
  await until("a look", () => [...rotation.usage()].some(({ bytes }) => bytes > 6 * FULL.length));
  for (let i = 0; i < 20; i++) clock.step(1000);
  await rotation.stop();
  assert.deepEqual([await names(), reopened, counted], [["0.log"], [], []]);
});

test("a runtime that does not reopen: the name is given back, one warning, tried again", async (t) => {
  let broken = true;
  const { folder, podLogs, until, names, warnings, counted } = await kit(t, {
    reopen: (path) => (broken ? Promise.reject(new Error("no such task")) : writeFile(path, "")),
  });
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("two failed rotations", () => counted.filter((what) => what === "rotation failed").length === 2);
  await until("the name to be given back", async () => (await names()).join() === "0.log");
  assert.equal(await readAll(podLogs), `${FULL}\n`);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0] ?? "", /container app of pod ns\/p.*no such task.*keeps writing to the old file/);
  broken = false;
  await until("a rotation", () => counted.includes("rotation ok"));
  assert.equal((await names()).length, 2);
});

test("a call that fails here and was done there: the new file is not overwritten", async (t) => {
  const { folder, podLogs, until, counted, names } = await kit(t, {
    reopen: async (path) => {
      await writeFile(path, line("new"));
      throw new Error("deadline");
    },
  });
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("a failed rotation", () => counted.includes("rotation failed"));
  await until("both files to be there", async () => (await names()).length === 2);
  assert.equal(await readAll(podLogs), `${FULL}\nnew\n`);
});

test("a log without its file, as after a crash in mid-rotation, is reopened", async (t) => {
  const { folder, until, reopened, names } = await kit(t);
  const path = join(folder, "0.log");
  await writeFile(path, line("x"));
  await rename(path, `${path}.20260101-000000`);
  await until("the file to be made", async () => (await names()).includes("0.log"));
  assert.deepEqual(reopened, ["c"]);
});

test("compression that fails leaves the plain file, logs one warning, and is tried at the next rotation", async (t) => {
  const results: CompressLogResult[] = [];
  const failing = { outcome: "failed", code: "ENOSPC", message: "no space left on device" } as const;
  let full = true;
  const { folder, podLogs, until, counted, warnings } = await kit(t, {
    compress: (job) => {
      const result = full ? failing : compressLog(job);
      results.push(result);
      return Promise.resolve(result);
    },
  });
  const rotations = (): number => counted.filter((what) => what === "rotation ok").length;
  for (let i = 0; i < 3; i++) {
    await appendFile(join(folder, "0.log"), line(`${i} ${FULL}`));
    await until("a rotation", () => rotations() === i + 1);
  }
  await until("the failures", () => results.length === 2);
  assert.equal(warnings().length, 1);
  assert.match(warnings()[0] ?? "", /stay uncompressed until its next rotation: ENOSPC/);
  full = false;
  await appendFile(join(folder, "0.log"), line(`3 ${FULL}`));
  await until("compression", () => counted.filter((what) => what === "compression compressed").length === 3);
  assert.equal(await readAll(podLogs), [0, 1, 2, 3].map((i) => `${i} ${FULL}\n`).join(""));
});

test("a pod that is removed under rotation leaves nothing behind but a look that finds nothing", async (t) => {
  const { folder, until, warnings, running, rotation } = await kit(t);
  await appendFile(join(folder, "0.log"), line("x"));
  await until("a look", () => [...rotation.usage()].length === 1);
  await rm(folder, { recursive: true });
  running.pop();
  await until("it to be forgotten", () => [...rotation.usage()].length === 0);
  assert.deepEqual(warnings(), []);
  assert.equal(await readFile(join(folder, "0.log")).catch(() => "gone"), "gone");
});

test("an error while running containers are listed does not end the rotation of the logs that are known", async (t) => {
  const { folder, until, counted, running } = await kit(t);
  const rotations = (): number => counted.filter((what) => what === "rotation ok").length;
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("the first rotation", () => rotations() === 1);
  Object.defineProperty(running, Symbol.iterator, {
    value: () => {
      throw new Error("a defect");
    },
  });
  await appendFile(join(folder, "0.log"), line(FULL));
  await until("the second rotation", () => rotations() === 2);
});

test("a log folder that was replaced by a link is not rotated, and the kubelet logs a warning", async (t) => {
  const { folder, podLogs, until, warnings } = await kit(t);
  const victim = join(podLogs, "victim");
  await mkdir(victim);
  await writeFile(join(victim, "0.log"), FULL);
  await rm(folder, { recursive: true });
  await symlink(victim, folder);
  await until("a warning", () => warnings().some((text) => text.includes("does not enter it")));
  assert.deepEqual(await readdir(victim), ["0.log"]);
});

test("a link in the place of an unchanged log is refused", async (t) => {
  const { folder, podLogs, until, warnings } = await kit(t);
  await writeFile(join(podLogs, "victim"), "");
  await symlink(join(podLogs, "victim"), join(folder, "0.log"));
  await until("a warning", () => warnings().some((text) => text.includes("symbolic link")));
});

test("an idle log is opened once for its watch, looked at once a minute, and a write wakes it", async (t) => {
  const opened: string[] = [];
  const { open } = files;
  t.mock.method(files, "open", (...args: Parameters<typeof open>) => {
    opened.push(String(args[0]));
    return open(...args);
  });
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  const { folder, until, rotation, clock } = await kit(t);
  const path = join(folder, "0.log");
  await writeFile(path, "");
  const opens = (name: string): number => opened.filter((one) => one.endsWith(`/${name}`)).length;
  // Each look opens the folder of the log.
  await until("the watch", () => opens("0.log") > 0);
  const began = clock.monotonic();
  const before = opens("app");
  // Ten steps of a second: `until` steps by 50 ms, and a minute of these would take long.
  const looks = (count: number) => async (): Promise<boolean> => {
    for (let step = 0; step < 10 && opens("app") < before + count; step++) {
      clock.step(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return opens("app") >= before + count;
  };
  await until("three looks after it", looks(3));
  assert.ok(clock.monotonic() - began >= 2 * 60_000);
  assert.equal(opens("0.log"), 1);
  await appendFile(path, line("words"));
  await until("the write to be seen", async () => [...rotation.usage()][0]?.bytes === (await stat(path)).size);
});

test("a write that comes while a look has just begun to watch the log is seen soon, not after the interval", async (t) => {
  const { open } = files;
  let closing: (() => Promise<void>) | undefined;
  t.mock.method(files, "open", async (...args: Parameters<typeof open>) => {
    const handle = await open(...args);
    // Only the log itself is opened by its descriptor.
    if (/^\/proc\/self\/fd\/\d+$/.test(String(args[0])) && closing !== undefined) {
      const [close, write] = [handle.close.bind(handle), closing];
      closing = undefined;
      handle.close = () => write().then(close);
    }
    return handle;
  });
  syncBuiltinESMExports();
  t.after(syncBuiltinESMExports);
  const { folder, until, rotation, clock } = await kit(t);
  const path = join(folder, "0.log");
  await writeFile(path, "");
  closing = async () => {
    await appendFile(path, line("words"));
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await until("the watch", () => closing === undefined);
  await waitFor(
    () => {
      // Three seconds at most.
      clock.step(10);
      return [...rotation.usage()][0]?.bytes === line("words").length;
    },
    { what: "the next look", timeoutMs: 3000, intervalMs: 10 },
  );
});

test("hundreds of logs that wait for one worker share no signal's list of listeners", async (t) => {
  const podLogs = await temporaryFolder(t);
  const clock = new SteppedClock();
  const { log } = keptLog();
  let given: AbortSignal | undefined;
  const running = Array.from({ length: 300 }, (_, at) => ({
    ...{
      containerId: containerIdOf(`c${at}`),
      path: join(podLogs, `${at}.log`),
      uid: podUid("u"),
      namespace: "ns",
      pod: "p",
    },
    container: `c${at}`,
  }));
  const rotation = new LogRotation({
    settings: {
      ...{ containerLogMaxSize: 500, containerLogMaxFiles: 5, containerLogMaxWorkers: 1 },
      containerLogMonitorIntervalMs: 10_000,
    },
    running: () => running,
    changes: () => 0,
    isRunning: () => true,
    reopen: (_id, { signal }) => {
      given = signal;
      return hang(signal);
    },
    compress: () => Promise.reject(new Error("nothing to compress")),
    counted: { rotation: () => undefined, compression: () => undefined },
    ...{ clock, log },
  });
  clock.step(1000);
  await waitFor(() => Promise.resolve(given !== undefined), { what: "the first log to be reopened", intervalMs: 1 });
  await settle();
  assert.ok(given !== undefined && heldBy(given) <= 2, `${given && heldBy(given)} listeners`);
  await rotation.stop();
});
