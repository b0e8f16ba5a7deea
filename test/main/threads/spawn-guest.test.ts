// Two workers in one thread, each with a supervisor of its own.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { spawnGuest } from "../../../src/main/threads/spawn-guest.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { superviseThread, type SupervisedThread, type SuperviseOptions } from "../../../src/main/threads/supervisor.js";
import { createBoard } from "../../../src/shared/base/queue/board.js";
import type { ThreadExit } from "../../../src/shared/contracts/thread.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { threadOptions } from "../../support/thread-options.js";
import type { GuestControl, GuestInit, HostControl } from "./fixtures/host.js";

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thread of started.splice(0).reverse()) await thread.stop();
});

interface Pair {
  host: SupervisedThread<HostControl>;
  guest: SupervisedThread<GuestControl>;
  exits: ThreadExit[];
}

function pair(init: () => GuestInit = () => ({ fails: false })): Pair {
  const exits: ThreadExit[] = [];
  const common = {
    entry: new URL("./fixtures/host.js", import.meta.url),
    ...threadOptions(100),
    board: createBoard(["main", "host", "guest"]),
    onRunning: () => undefined,
    onExit: (exit: ThreadExit) => void exits.push(exit),
    onGiveUp: () => undefined,
  } satisfies Partial<SuperviseOptions<object, unknown, object>>;
  const host = superviseThread<HostControl>({
    ...common,
    name: "host",
    init: () => undefined,
    spawn: spawnWorkerThread,
  });
  const guest = superviseThread<GuestControl, GuestInit>({
    ...common,
    name: "guest",
    init,
    upcalls: { answer: (question: string) => `${question}: 42` },
    spawn: spawnGuest(host),
  });
  started.push(host, guest);
  return { host, guest, exits };
}

type State = Pick<SupervisedThread<object>, "name" | "state" | "generation">;

const runs = (thread: State, generation: number): Promise<unknown> =>
  waitFor(() => thread.state === "running" && thread.generation >= generation, { what: `${thread.name} to run` });

describe("a worker in another one's thread", () => {
  test("waits for its host, answers, calls back, and drains without ending it", async () => {
    const { host, guest, exits } = pair();
    const isThere = guest.start();
    await host.start();
    await isThere;
    assert.equal(await guest.call.add(2, 3), 5);
    assert.equal(await guest.call.askMain("life"), "life: 42");
    await guest.stop();
    assert.deepEqual(
      exits.map(({ thread, cause }) => [thread, cause]),
      [["guest", "drained"]],
    );
    assert.equal(host.state, "running");
  });

  test("ends with its host, and both start again", async () => {
    const { host, guest, exits } = pair();
    await Promise.all([host.start(), guest.start()]);
    void host.call.crash().catch(() => undefined);
    await runs(host, 2);
    await runs(guest, 2);
    assert.equal(await guest.call.add(1, 1), 2);
    const lost = exits.find(({ thread }) => thread === "guest");
    assert.match(lost?.reason ?? "", /the thread host, in which it lives, has ended|call host to thread host failed/);
  });

  test("takes its host with it when it must end by force", async () => {
    const { host, guest, exits } = pair();
    await Promise.all([host.start(), guest.start()]);
    await guest.terminate();
    await runs(host, 2);
    await runs(guest, 2);
    assert.deepEqual(exits.find(({ thread }) => thread === "guest")?.cause, "terminated");
  });

  test("whose start fails ends the thread, and starts again in the next one", async () => {
    let starts = 0;
    const { host, guest, exits } = pair(() => ({ fails: starts++ === 0 }));
    const isThere = guest.start();
    await host.start();
    await isThere;
    assert.equal(exits.find(({ thread }) => thread === "guest")?.cause, "start-failed");
    await runs(host, 2);
  });

  test("that is stopped before its host runs never starts", async () => {
    const { host, guest } = pair();
    void guest.start().catch(() => undefined);
    await guest.stop();
    await host.start();
    assert.equal(guest.state, "exited");
    assert.equal(await host.call.guests(), 0);
  });
});
