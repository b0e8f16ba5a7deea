// HealthMonitor: the findings of a look at the board; a pause of the process is not taken for a stuck thread.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { BoardReader, BoardWriter, createBoard } from "../../../src/shared/base/queue/board.js";
import { MAIN_POD_CHANGE } from "../../../src/shared/contracts/thread-ops.js";
import { stampLimits, HealthMonitor } from "../../../src/workers/node-status/health-monitor.js";
import { SteppedClock } from "../../support/stepped-clock.js";

class Board {
  readonly clock = new SteppedClock();
  readonly board = createBoard(["main", "pleg"]);
  readonly main = new BoardWriter(this.board, "main", this.clock);
  readonly pleg = new BoardWriter(this.board, "pleg", this.clock);
  readonly stuck = new Set<string>();
  changes = 0;
  readonly watch = new HealthMonitor({
    board: new BoardReader(this.board, this.clock),
    limits: stampLimits(40),
    clock: this.clock,
    onChange: () => this.changes++,
  });

  constructor() {
    this.clock.step(Date.UTC(2026, 10, 21, 18));
    this.stamp();
    this.watch.start();
  }
  step(ms: number): void {
    for (let left = ms; left > 0; left -= 500) {
      this.clock.step(Math.min(left, 500));
      this.stamp();
    }
  }
  stamp(): void {
    if (!this.stuck.has("main")) this.main.stamp();
    if (!this.stuck.has("pleg")) this.pleg.stamp();
    if (!this.stuck.has("relist")) this.pleg.worked();
  }
  get stalls(): readonly string[] {
    return this.watch.current.stalls;
  }
}

test("threads that stamp are alive", () => {
  const world = new Board();
  world.step(600_000);
  deepEqual([world.watch.current, world.changes], [{ stalls: [], plegProblem: "" }, 0]);
  world.watch.stop();
  equal(world.clock.pending, 0);
});

test("main busy for 10 s and more is no stall; from 20 s on it is, by name, with its operation and its start", () => {
  const world = new Board();
  world.main.setOp(MAIN_POD_CHANGE);
  world.stuck.add("main");
  world.step(20_000);
  deepEqual([world.stalls, world.changes], [[], 0]);
  world.step(1000);
  const words =
    "main is not healthy: its thread was last seen active at 2026-11-21T18:00:00Z, " +
    "in dispatching a pod's change since 2026-11-21T18:00:00Z; threshold is 20s";
  deepEqual([world.stalls, world.changes], [[words], 1]);
  world.step(60_000);
  deepEqual([world.stalls, world.changes], [[words], 1], "words that last make no new status");
  world.stuck.clear();
  world.main.setOp(0);
  world.step(1500);
  deepEqual([world.stalls, world.changes], [[], 2]);
});

test("pleg has 30 s: its supervisor restarts it after 10 s", () => {
  const world = new Board();
  world.stuck.add("pleg").add("relist");
  world.step(30_000);
  deepEqual(world.stalls, []);
  world.step(1000);
  match(world.stalls.join(), /^pleg is not healthy: its thread was last seen active at .*; threshold is 30s$/);
});

test("a process stopped for a minute counts as healthy, one whose main stays away after it does not", () => {
  const world = new Board();
  world.stuck.add("main").add("pleg").add("relist");
  world.clock.freeze(600_000);
  world.clock.step(0);
  deepEqual(world.watch.current, { stalls: [], plegProblem: "" });
  world.stuck.delete("pleg");
  world.stuck.delete("relist");
  world.step(16_000);
  deepEqual(world.stalls, []);
  world.step(4000);
  match(world.stalls.join(), /^main is not healthy/);
});

test("relists older than three minutes are reported in upstream's words; the lease does not depend on them", () => {
  const world = new Board();
  world.stuck.add("relist");
  world.step(180_000);
  equal(world.watch.current.plegProblem, "");
  world.step(1000);
  equal(world.watch.current.plegProblem, "pleg was last seen active 3m1s ago; threshold is 3m0s");
  world.step(10_000);
  deepEqual([world.stalls, world.changes], [[], 1]);
  world.stuck.clear();
  world.step(1500);
  deepEqual([world.watch.current.plegProblem, world.changes], ["", 2]);
});

test("a pleg thread that was restarted keeps the relist of the one before it", () => {
  const world = new Board();
  world.stuck.add("relist");
  world.step(10_000);
  world.pleg.reset(2);
  world.step(60_000);
  equal(world.watch.current.plegProblem, "");
  world.step(180_000);
  match(world.watch.current.plegProblem, /^pleg was last seen active/);
});

test("before the first relist pleg is not healthy; after it pleg is, without a wait for the next check", () => {
  const clock = new SteppedClock();
  const board = createBoard(["main", "pleg"]);
  for (const name of board.threads) new BoardWriter(board, name, clock).stamp();
  const watch = new HealthMonitor({
    board: new BoardReader(board, clock),
    limits: stampLimits(40),
    clock,
    onChange: () => undefined,
  });
  watch.start();
  equal(watch.current.plegProblem, "pleg has yet to be successful");
  new BoardWriter(board, "pleg", clock).worked();
  equal(watch.current.plegProblem, "");
  watch.stop();
});

test("the limits stay below the lease", () => {
  deepEqual(stampLimits(40), { main: 20_000, pleg: 30_000 });
  deepEqual(stampLimits(300), { main: 20_000, pleg: 30_000 });
  deepEqual(stampLimits(4), { main: 2000, pleg: 3000 });
});
