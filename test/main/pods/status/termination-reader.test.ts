// Termination messages of exited containers, read from real files: first the message file, then the end of the log.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { TerminationReader } from "../../../../src/main/pods/status/termination-reader.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { ContainerStatus, DeepPartial } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ContainerState } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid, containerIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { startHelperProcess } from "../../../../src/shared/node/volume-calls/helper.js";
import { VolumeCalls } from "../../../../src/shared/node/volume-calls/volume-calls.js";
import { entriesIn } from "../../../support/entries-in.js";
import { canHang, HungMounts } from "../../../support/hung-mounts.js";
import { dockerText } from "../../../support/log-kit.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";
import { criContainer, makePod, observedPod } from "./fixtures.js";

const PATH = "/dev/termination-log";

async function build(t: TestContext) {
  const root = await temporaryFolder(t);
  const kept = keptLog();
  const found: string[] = [];
  const calls = new VolumeCalls({ clock: systemClock, log: kept.log, startHelper: startHelperProcess });
  t.after(() => calls.close());
  const places = { rootDir: join(root, "kubelet"), podLogsDir: join(root, "logs") };
  const reader = new TerminationReader(places, calls, kept.log, (uid) => found.push(uid));
  const logFile = join(root, "logs", "ns_web_u1", "a", "0.log");
  await mkdir(join(logFile, ".."), { recursive: true });
  const messageFile = join(root, "message");
  const pod = makePod();
  const ended = (policy: string, rest: DeepPartial<ContainerStatus> = {}): ObservedContainer =>
    criContainer("a", {
      state: ContainerState.CONTAINER_EXITED,
      exitCode: 1,
      reason: "Error",
      logPath: logFile,
      mounts: [{ containerPath: PATH, hostPath: messageFile }],
      annotations: {
        "io.kubernetes.container.terminationMessagePath": PATH,
        "io.kubernetes.container.terminationMessagePolicy": policy,
      },
      ...rest,
    });
  const read = async (status: ObservedContainer): Promise<string> => {
    const observed = observedPod([status]);
    await until("it has been read", () => reader.messagesOf(pod, observed)?.has(containerIdOf(status.id)) === true);
    return reader.messagesOf(pod, observed)?.get(containerIdOf(status.id)) ?? "";
  };
  return { root, kept, found, reader, logFile, messageFile, pod, ended, read };
}

/** Lines as a runtime writes them. */
const logOf = (...lines: string[]): string =>
  lines.map((line) => `2026-01-01T00:00:00.000000000Z stdout F ${line}\n`).join("");

test("the message file is read once, and the status is computed again if it has content", async (t) => {
  const { messageFile, found, reader, pod, ended, read } = await build(t);
  await writeFile(messageFile, "out of cheese");
  const status = ended("File");
  assert.equal(await read(status), "out of cheese");
  assert.deepEqual(found, ["u1"]);
  await writeFile(messageFile, "something else");
  assert.equal(await read(status), "out of cheese", "an ended container has no more to say");
  assert.equal(reader.messagesOf(pod, observedPod([status]))?.get(containerIdOf(status.id)), "out of cheese");
  assert.equal(found.length, 1);
});

test("a message path without its leading slash is read where it is mounted: below the root, or as written", async (t) => {
  const { messageFile, ended, read } = await build(t);
  await writeFile(messageFile, "out of cheese");
  for (const [id, written, containerPath] of [
    ["now", "msg", "/msg"],
    ["slash", "/msg/", "/msg"],
    ["before", "msg", "msg"],
  ] as const) {
    const annotations = { "io.kubernetes.container.terminationMessagePath": written };
    assert.equal(
      await read(ended("File", { id, annotations, mounts: [{ containerPath, hostPath: messageFile }] })),
      "out of cheese",
    );
  }
});

test("one status is computed when all messages of a pod with a thousand exits are read", async (t) => {
  const { found, reader, pod, ended } = await build(t);
  const observed = observedPod(Array.from({ length: 1000 }, (_, index) => ended("File", { id: `exit-${index}` })));
  assert.equal(reader.messagesOf(pod, observed), undefined);
  assert.equal(reader.messagesOf(pod, observed), undefined);
  await until("all are read", () => found.length > 0);
  assert.equal(reader.messagesOf(pod, observed)?.size, 1000);
  assert.deepEqual(found, ["u1"]);
});

test("lines with carriage returns and other line ends of Unicode are part of the log's end", async (t) => {
  const { logFile, messageFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  const lines = ["10%\r100%\r", "one\u2028two", "\u0085", "", "last\r"];
  await writeFile(logFile, logOf(...lines));
  assert.equal(await read(ended("FallbackToLogsOnError")), lines.map((line) => `${line}\n`).join(""));
});

test("the end of a log in Docker's format, behind a link to the container's own file", async (t) => {
  const { root, logFile, messageFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  const id = "d0c".padEnd(64, "5");
  const file = join(root, "docker", id, `${id}-json.log`);
  await mkdir(join(file, ".."), { recursive: true });
  const line = (text: string): string => dockerText({ stream: "stderr", tag: "F", text, second: 1 });
  const controls = "\u0001".repeat(16 * 1024);
  await writeFile(file, line(controls).repeat(10) + line("last words"));
  await symlink(file, logFile);
  assert.equal(
    await read(ended("FallbackToLogsOnError", { id, exitCode: 1 })),
    `${controls.slice(-2036)}\nlast words\n`,
  );
  const other = ended("FallbackToLogsOnError", { id: "0".repeat(64) });
  assert.equal(await read(other), "", "another container's file");
});

test("10,000 restarts leave the words of the containers that are still there", async (t) => {
  const { messageFile, ended, reader, pod } = await build(t);
  await writeFile(messageFile, "m".repeat(4096));
  const last = { now: ended("File", { id: "c-0" }), before: ended("File", { id: "none" }) };
  for (let restart = 1; restart <= 10_000; restart++) {
    last.before = last.now;
    // A path that is no file: what counts here is the number of ids.
    last.now = ended("File", { id: `c-${restart}`, mounts: [] });
    reader.messagesOf(pod, observedPod([last.now, last.before]));
  }
  const observed = observedPod([last.now, last.before]);
  await until("the last two are read", () => reader.messagesOf(pod, observed) !== undefined);
  assert.deepEqual([...(reader.messagesOf(pod, observed)?.keys() ?? [])].sort(), ["c-10000", "c-9999"]);
  await until("no read is under way", () => entriesIn(reader) < 10);
});

test("a container that still runs is not read", async (t) => {
  const { messageFile, reader, pod, ended, found } = await build(t);
  await writeFile(messageFile, "not yet");
  const running = ended("File", { id: "running", state: ContainerState.CONTAINER_RUNNING });
  const done = ended("File", { id: "done" });
  const observed = observedPod([running, done]);
  await until("the ended one is read", () => reader.messagesOf(pod, observed)?.has(containerIdOf("done")) === true);
  assert.equal(reader.messagesOf(pod, observed)?.has(containerIdOf("running")), false);
  assert.deepEqual(found, ["u1"]);
});

test("of a long file the last 4096 bytes count, from a whole character on", async (t) => {
  const { messageFile, ended, read } = await build(t);
  await writeFile(messageFile, `${"x".repeat(10_000)}${"é".repeat(2047)}zz!`);
  const message = await read(ended("File"));
  assert.equal(message, `${"é".repeat(2046)}zz!`);
  assert.ok(Buffer.byteLength(message) <= 4096);
  await writeFile(messageFile, "y".repeat(4096));
  assert.equal((await read(ended("File", { id: "exact" }))).length, 4096);
});

test("an empty file falls back to the log only with policy FallbackToLogsOnError and a failed container", async (t) => {
  const cases: [string, string, Partial<ContainerStatus>, string][] = [
    ["FallbackToLogsOnError", "", {}, "boom\n"],
    ["FallbackToLogsOnError", "own words", {}, "own words"],
    ["FallbackToLogsOnError", "", { exitCode: 0 }, ""],
    ["FallbackToLogsOnError", "", { reason: "ContainerCannotRun" }, ""],
    ["File", "", {}, ""],
  ];
  for (const [policy, own, rest, expected] of cases) {
    const { messageFile, logFile, ended, read, found } = await build(t);
    await writeFile(messageFile, own);
    await writeFile(logFile, logOf("boom"));
    assert.equal(await read(ended(policy, rest)), expected, `${policy} "${own}"`);
    assert.equal(found.length, 1, "an absent result is reported, too: a status waits for it");
  }
});

test("of the log the last 80 lines, of them the last 2048 bytes", async (t) => {
  const { messageFile, logFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i}`);
  await writeFile(logFile, logOf(...lines));
  assert.equal(await read(ended("FallbackToLogsOnError")), `${lines.slice(120).join("\n")}\n`);
  await writeFile(logFile, logOf(...Array.from({ length: 50 }, () => "z".repeat(99))));
  const long = await read(ended("FallbackToLogsOnError", { id: "long" }));
  assert.equal(Buffer.byteLength(long), 2048);
  assert.ok(long.endsWith(`${"z".repeat(99)}\n`));
});

test("of a huge log only the end is read, and partial lines are joined", async (t) => {
  const { messageFile, logFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  const stamp = "2026-01-01T00:00:00.000000000Z";
  const end = `${stamp} stderr P first \n${stamp} stderr P and \n${stamp} stderr F second\nno log line\n${stamp} stdout F third\n`;
  await writeFile(logFile, logOf(...Array.from({ length: 20_000 }, () => "filler".repeat(20))) + end);
  const message = await read(ended("FallbackToLogsOnError"));
  assert.ok(message.endsWith("first and second\nthird\n"), message.slice(-60));
  assert.ok(Buffer.byteLength(message) <= 2048);
});

test("a single line of megabytes, whole or in the runtime's pieces: its end", async (t) => {
  const { messageFile, logFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  const stamp = "2026-01-01T00:00:00.000000000Z";
  const giant = "x".repeat(3_000_000);
  await writeFile(logFile, logOf(`${giant}the end`));
  const whole = await read(ended("FallbackToLogsOnError", { id: "whole" }));
  assert.deepEqual([Buffer.byteLength(whole), whole.slice(-9)], [2048, "xthe end\n"]);
  const piece = `${stamp} stdout P ${"y".repeat(16_384)}\n`;
  await writeFile(logFile, `${piece.repeat(100)}${stamp} stdout F the end\n`);
  const pieces = await read(ended("FallbackToLogsOnError", { id: "pieces" }));
  assert.deepEqual([Buffer.byteLength(pieces), pieces.slice(-9)], [2048, "ythe end\n"]);
  assert.equal(pieces.indexOf("\n"), 2047, "it is one line");
});

test("a log that was just rotated continues in the file that was rotated last", async (t) => {
  const { messageFile, logFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  await writeFile(`${logFile}.20260101-000000.gz`, "compressed");
  await writeFile(`${logFile}.20260101-000001`, logOf("long ago"));
  await writeFile(`${logFile}.20260102-000000`, logOf("before"));
  await writeFile(`${logFile}.tmp`, logOf("no log"));
  assert.equal(await read(ended("FallbackToLogsOnError", { id: "renamed" })), "before\n", "between rename and reopen");
  await writeFile(logFile, logOf("after"));
  assert.equal(await read(ended("FallbackToLogsOnError", { id: "rotated" })), "before\nafter\n");
  await writeFile(logFile, logOf(...Array.from({ length: 80 }, (_, i) => String(i))));
  const full = await read(ended("FallbackToLogsOnError", { id: "full" }));
  assert.ok(full.startsWith("0\n") && full.endsWith("\n79\n"));
});

test("a log path may be relative to the pod's log directory", async (t) => {
  const { messageFile, logFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  await writeFile(logFile, logOf("from below"));
  assert.equal(await read(ended("FallbackToLogsOnError", { logPath: "a/0.log" })), "from below\n");
});

test("nothing to read is an empty message and no noise", async (t) => {
  const { root, kept, found, ended, read } = await build(t);
  assert.equal(await read(ended("File", { id: "no-file" })), "");
  assert.equal(await read(ended("FallbackToLogsOnError", { id: "no-log" })), "");
  assert.equal(await read(ended("File", { id: "no-mount", mounts: [] })), "");
  assert.equal(await read(ended("File", { id: "no-annotations", annotations: {} })), "");
  assert.equal(await read(ended("File", { id: "a-folder", mounts: [{ containerPath: PATH, hostPath: root }] })), "");
  assert.equal(found.length, 5);
  assert.deepEqual([kept.warnings(), kept.errors()], [[], []]);
});

/** More than libuv has threads for file calls, by default or as configured. */
const FIFOS = 8 + Number(process.env["UV_THREADPOOL_SIZE"] ?? 4);

for (const kind of ["message", "log"] as const) {
  test(`FIFOs as ${kind} files of many containers hold no thread: other files are read`, async (t) => {
    const { root, messageFile, logFile, reader, pod, ended } = await build(t);
    await writeFile(messageFile, "");
    const fifos = Array.from({ length: FIFOS }, (_, index) => join(root, `fifo-${index}`));
    execFileSync("mkfifo", fifos);
    const statuses = fifos.map((path) =>
      ended("FallbackToLogsOnError", {
        id: path,
        ...(kind === "log"
          ? { logPath: path }
          : { mounts: [{ containerPath: PATH, hostPath: path }], logPath: logFile }),
      }),
    );
    try {
      const observed = observedPod(statuses);
      await until("all have been read", () => reader.messagesOf(pod, observed)?.size === FIFOS);
      assert.deepEqual(
        [...(reader.messagesOf(pod, observed)?.values() ?? [])],
        fifos.map(() => ""),
      );
      assert.equal(await readFile(messageFile, "utf8"), "");
    } finally {
      // Lets go of the threads that wait for a writer, so that a failing test ends.
      for (const path of fifos) closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    }
  });
}

test("a symbolic link as message or log file leads nowhere: its target is not reported", async (t) => {
  const { root, messageFile, logFile, ended, read } = await build(t);
  await writeFile(join(root, "secret"), logOf("secret"));
  await symlink(join(root, "secret"), messageFile);
  await symlink(join(root, "secret"), logFile);
  assert.equal(await read(ended("File")), "");
  await rm(messageFile);
  await writeFile(messageFile, "");
  assert.equal(await read(ended("FallbackToLogsOnError", { id: "log" })), "");
});

test("a device node as message file is an empty message", { skip: process.getuid?.() !== 0 && "root" }, async (t) => {
  const { messageFile, ended, read } = await build(t);
  execFileSync("mknod", [messageFile, "c", "1", "5"]);
  assert.equal(await read(ended("File")), "");
});

test("of a sparse message file of a terabyte the last 4096 bytes count", async (t) => {
  const { messageFile, ended, read } = await build(t);
  await writeFile(messageFile, "");
  await truncate(messageFile, 2 ** 40);
  assert.equal(await read(ended("File")), "\0".repeat(4096));
});

test("a forgotten pod's messages are removed; a pod of the same UID is read again", async (t) => {
  const { messageFile, reader, ended, read } = await build(t);
  await writeFile(messageFile, "first life");
  assert.equal(await read(ended("File")), "first life");
  reader.forget(podUid("u1"));
  await writeFile(messageFile, "second life");
  assert.equal(await read(ended("File")), "second life");
  await rm(messageFile);
});

test(
  "message files on mounts that do not respond hold no thread, and are empty: other files are read",
  { skip: !canHang, timeout: 120_000 },
  async (t) => {
    const { root, messageFile, ended, read, reader, pod } = await build(t);
    const mounts = new HungMounts();
    try {
      const hung: ObservedContainer[] = [];
      for (let index = 0; index < 6; index++) {
        const place = join(root, `hung-${index}`);
        await mounts.hang(place);
        const mount = { containerPath: PATH, hostPath: join(place, "message") };
        hung.push(ended("File", { id: `hung-${index}`, mounts: [mount] }));
      }
      assert.equal(reader.messagesOf(pod, observedPod(hung)), undefined);
      await writeFile(messageFile, "beside them");
      assert.equal(await readFile(messageFile, "utf8"), "beside them", "libuv's threads are free");
      await until("all are given up", () => reader.messagesOf(pod, observedPod(hung))?.size === 6, 60_000);
      for (const message of reader.messagesOf(pod, observedPod(hung))?.values() ?? []) assert.equal(message, "");
      assert.equal(await read(ended("File")), "beside them");
    } finally {
      // Before the folder is removed, which would wait for the mounts.
      await mounts.releaseAll();
    }
  },
);
