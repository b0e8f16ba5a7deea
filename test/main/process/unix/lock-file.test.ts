import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { acquireLockFile, type LockFileOptions } from "../../../../src/main/process/unix/lock-file.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import type { LockAgentMessage } from "../fixtures/lock-agent.js";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-lock-"));
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(scratch, { recursive: true });
});

let files = 0;
const freshPath = (): string => join(scratch, `lock-${++files}`);

/** A kubelet in a process of its own. */
class Agent {
  readonly process: ChildProcess;
  readonly messages: LockAgentMessage[] = [];
  readonly exited: Promise<unknown[]>;
  private wake: () => void = () => undefined;

  constructor(path: string, mode: "stay" | "exit") {
    const script = fileURLToPath(new URL("../fixtures/lock-agent.js", import.meta.url));
    this.process = fork(script, [path, mode]);
    children.push(this.process);
    this.exited = once(this.process, "exit");
    this.process.on("message", (message) => {
      this.messages.push(message as LockAgentMessage);
      this.wake();
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }
  get held(): boolean {
    return this.messages.some((message) => "held" in message);
  }
  get logs(): string[] {
    return this.messages.flatMap((message) => ("log" in message ? [message.log] : []));
  }
  get contentions(): string[] {
    return this.messages.flatMap((message) => ("contended" in message ? [message.contended] : []));
  }
  async until(met: () => boolean): Promise<this> {
    while (!met()) await new Promise<void>((resolve) => (this.wake = resolve));
    return this;
  }
  untilHeld(): Promise<this> {
    return this.until(() => this.held);
  }
}

describe("two kubelets, one lock file", { timeout: 300_000 }, () => {
  test("the second waits, logs the file and its holder once, and continues when the first is killed", async () => {
    const path = freshPath();
    const first = await new Agent(path, "stay").untilHeld();
    equal((await stat(path)).mode & 0o777, 0o600);
    const second = new Agent(path, "stay");
    await second.until(() => second.logs.length > 0);
    // Node 24 names its main thread otherwise than Node 20.
    const name = (await readFile(`/proc/${first.pid}/comm`, "utf8")).trim();
    equal(second.logs[0], `waiting for lock file ${path}, which process ${first.pid} (${name}) holds`);
    equal(second.held, false);
    first.process.kill("SIGKILL");
    await second.untilHeld();
    deepEqual(second.logs.slice(1), [`holding lock file ${path}`]);
    deepEqual(first.contentions, [], "an agent without exit-on-lock-contention stays");
    equal((await stat(path)).isFile(), true);
  });

  test("a waiting kubelet makes the first exit in order, then has the lock", async () => {
    const path = freshPath();
    const first = await new Agent(path, "exit").untilHeld();
    const second = await new Agent(path, "exit").untilHeld();
    // Messages of two processes have no order, and the end of a process may be seen before its last message.
    await first.until(() => first.contentions.length > 0);
    deepEqual(first.contentions, [`${path} was opened by another process`]);
    deepEqual(await first.exited, [0, null]);
    deepEqual(second.contentions, []);
  });

  test("a third process that only opens it", async () => {
    const path = freshPath();
    const agent = await new Agent(path, "exit").untilHeld();
    await (await open(path)).close();
    deepEqual(await agent.exited, [0, null]);
    await agent.until(() => agent.contentions.length > 0);
    deepEqual(agent.contentions, [`${path} was opened by another process`]);
  });

  const removals: [string, (path: string) => Promise<void>][] = [
    ["deleted", (path) => rm(path)],
    ["moved away", (path) => rename(path, `${path}.old`)],
    [
      "replaced",
      async (path) => {
        await writeFile(`${path}.new`, "");
        await rename(`${path}.new`, path);
      },
    ],
  ];
  for (const [what, remove] of removals) {
    test(`${what} by another process`, async () => {
      const path = freshPath();
      const agent = await new Agent(path, "exit").untilHeld();
      await remove(path);
      deepEqual(await agent.exited, [0, null]);
      await agent.until(() => agent.contentions.length > 0);
      match(agent.contentions[0] ?? "", /was deleted/);
    });
  }

  test("deleted while waited for: the new file is locked, not the ghost", async () => {
    const path = freshPath();
    const first = await new Agent(path, "stay").untilHeld();
    const second = new Agent(path, "stay");
    await second.until(() => second.logs.length > 0);
    await rm(path);
    first.process.kill("SIGKILL");
    await second.untilHeld();
    const third = new Agent(path, "stay");
    await third.until(() => third.logs.length > 0);
    match(third.logs[0] ?? "", new RegExp(`waiting .* process ${second.pid} `));
  });
});

describe("lock file", { timeout: 300_000 }, () => {
  const options = (path: string, more: Partial<LockFileOptions> = {}): LockFileOptions => ({
    path,
    exitOnContention: false,
    log: { info: () => undefined, warn: () => undefined },
    signal: new AbortController().signal,
    ...more,
  });

  test("exit-on-lock-contention without a lock file is an error, no lock file alone is not", async () => {
    await rejects(acquireLockFile(options("", { exitOnContention: true })), (error) => {
      return error instanceof OperatorError && error.message.includes("--lock-file");
    });
    await (await acquireLockFile(options(""))).release();
  });

  test("a path that cannot be opened is named", async () => {
    const path = join(scratch, "no-such-directory", "lock");
    await rejects(
      acquireLockFile(options(path)),
      (error) => error instanceof OperatorError && error.message.includes(path),
    );
  });

  test("a released lock is free at once, also if released twice; a mode change is no contention, an open is", async () => {
    const path = freshPath();
    const first = await acquireLockFile(options(path, { exitOnContention: true }));
    let happened: string | undefined;
    void first.contended.then((what) => (happened = what));
    await chmod(path, 0o644);
    // Its event is in the kernel's queue by now; a few turns of the loop deliver and judge it.
    for (let turn = 0; turn < 20; turn++) {
      await stat(path);
      await nextTurn();
    }
    equal(happened, undefined);
    await (await open(path)).close();
    equal(await first.contended, `${path} was opened by another process`);
    await first.release();
    await first.release();
    const waits: unknown[] = [];
    const log = { info: (fields: unknown) => waits.push(fields), warn: () => undefined };
    const second = await acquireLockFile(options(path, { log: log as unknown as LockFileOptions["log"] }));
    deepEqual(waits, [{ path }], "held, without a wait");
    await second.release();
  });

  test("a wait that is aborted rejects with the reason and lets go of the file", async () => {
    const path = freshPath();
    const first = await acquireLockFile(options(path));
    const abort = new AbortController();
    const waiting = acquireLockFile(options(path, { signal: abort.signal }));
    const reason = new Error("stopped by SIGTERM");
    abort.abort(reason);
    await rejects(waiting, (error) => {
      ok(error === reason);
      return true;
    });
    await first.release();
    await (await acquireLockFile(options(path))).release();
  });
});
