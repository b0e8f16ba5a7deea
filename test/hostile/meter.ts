// Effect of an attack on the node and its bystanders, from its start to its end, compared with the promise.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { usageOf } from "../../bench/lib/process-usage.js";
import type { KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import type { Attack, Row } from "./attack.js";
import { latenessByKind, uptime } from "./bystander.js";
import { DIRECT_PAGE, type DirectProcess } from "./direct.js";
import { busiestMs, MainCpu } from "./main-cpu.js";
import type { Operator, OperatorWindow } from "./operator.js";

/**
 * The promise of SPECIFICATION.md. Main's delay is compared with that of an idle process, probes and the operator's
 * calls with the same work of a process that does without the kubelet. A machine that is busy with other things misses
 * it; `SLACK` times as much is a failure.
 */
const PROMISE = { mainDelayMs: 100, operatorMs: 1000, probeLateMs: 1000 } as const;
const SLACK = 20;

export interface Measured {
  node: { kubelet: Pick<KubeletProcess, "pid" | "ending"> };
  operator: Operator;
  direct: DirectProcess;
  /** Folder of the bystander's stamps. */
  stamps: string;
}

export class Meter {
  private constructor(
    private readonly of: Measured,
    private readonly before: { window: OperatorWindow; pid: number; rssMiB: number; at: number },
    private readonly window: OperatorWindow,
    private readonly cpu: MainCpu,
    private readonly idle: IdleDelay,
  ) {}

  /** Begins when the operator's calls are answered. */
  static async begin(of: Measured, timeoutMs: number): Promise<Meter> {
    const window = await of.operator.round(timeoutMs);
    const { pid } = of.node.kubelet;
    if (pid === undefined) throw new Error("the kubelet does not run");
    const before = { window, pid, rssMiB: (await usageOf(pid)).rssMiB, at: await uptime() };
    return new Meter(of, before, of.operator.open(), new MainCpu(pid), new IdleDelay());
  }

  get hasDied(): boolean {
    return this.of.node.kubelet.pid !== this.before.pid;
  }

  async end(attack: Attack, did: string, timeoutMs: number): Promise<Row> {
    const { before, window, of } = this;
    const to = await uptime();
    const [samples, idleDelayMs] = await Promise.all([this.cpu.stop(), this.idle.stop()]);
    // The operator's view of pod and threads after the attack.
    const after = this.hasDied ? window : await of.operator.round(timeoutMs).catch(() => window);
    of.operator.close(window);
    const { exec: directExecMs, stats: directStatsMs } = of.direct.rest();
    const lateness = await latenessByKind(of.stamps, before.at, to);
    const late = lateness.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
    const slowest = window.slowest();
    const directPageMs = slowest.get(DIRECT_PAGE) ?? 0;
    slowest.delete(DIRECT_PAGE);
    const threadRestarts = (after.last("threadRestarts") ?? 0) - (before.window.last("threadRestarts") ?? 0);
    const mainDelayMs = Math.max(window.mainDelayMs, after.mainDelayMs);
    const mainCpuMs = Math.min(mainDelayMs, busiestMs(samples, mainDelayMs));
    const row: Row = {
      family: attack.family,
      attack: attack.name,
      did,
      probeLateMs: late.ms,
      directLateMs: late.directMs,
      operatorMs: Math.max(0, ...slowest.values()),
      operatorP99Ms: window.p99Ms,
      directExecMs,
      directStatsMs,
      directPageMs,
      mainDelayMs,
      mainCpuMs,
      idleDelayMs,
      threadRestarts,
      hasProcessDied: this.hasDied,
      ...(attack.upstream === undefined ? {} : { upstream: attack.upstream }),
      rssBeforeMiB: before.rssMiB,
      rssAfterMiB: this.hasDied ? 0 : (await usageOf(before.pid)).rssMiB,
      broken: [],
      missed: [],
    };
    if (this.hasDied) row.broken.push(await of.node.kubelet.ending());
    else this.judgePod(row, after);
    if (threadRestarts > 0 && attack.endsThread !== true) {
      row.broken.push(`${threadRestarts} threads restarted: ${after.last("restartReasons") ?? ""}`);
    }
    const [problem] = window.problems;
    if (problem !== undefined) row.broken.push(`the operator's calls failed (${window.problems.length}): ${problem}`);
    const direct: Readonly<Record<string, number>> = { "/exec": directExecMs, "/stats/summary": directStatsMs };
    const limits: [what: string, ms: number, limit: number][] = [
      [`main's longest delay beyond an idle process's`, mainDelayMs - idleDelayMs, PROMISE.mainDelayMs],
      ...lateness.map(({ kind, ms, directMs }): [string, number, number] => [
        `the ${kind} probe, beyond the direct one`,
        ms - directMs,
        PROMISE.probeLateMs,
      ]),
      ...Array.from(slowest, ([kind, ms]): [string, number, number] => [
        `the operator's ${kind}, beyond the direct one`,
        ms - (direct[kind] ?? directPageMs),
        PROMISE.operatorMs,
      ]),
    ];
    for (const [what, ms, limit] of limits) {
      if (ms > limit * SLACK) row.broken.push(`${what}: ${Math.round(ms)} ms`);
      else if (ms > limit) row.missed.push(`${what}: ${Math.round(ms)} ms`);
    }
    return row;
  }

  private judgePod(row: Row, after: OperatorWindow): void {
    const [was, is] = [this.before.window.last("pod"), after.last("pod")];
    if (is?.ready !== true) row.broken.push("the normal pod is not Ready");
    else if (is.since !== was?.since) row.broken.push("the normal pod's Ready condition flipped");
    if (is !== undefined && is.restarts !== was?.restarts)
      row.broken.push("a container of the normal pod was restarted");
  }
}

/**
 * The longest delay of an idle process while an attack runs. Main's code cannot avoid this part of its delay, while the
 * kernel and the runtime's programs hold both processors.
 */
class IdleDelay {
  private readonly child: ChildProcess;

  constructor() {
    // A session of its own, as the kubelet has: the kernel may share processors out by sessions.
    this.child = fork(new URL("./idle-process.js", import.meta.url), { execArgv: [], detached: true });
  }

  /** Ends the process. @returns its longest delay in ms */
  async stop(): Promise<number> {
    const said = once(this.child, "message");
    const ended = once(this.child, "exit");
    this.child.send("stop");
    const [ms] = (await said) as [number];
    await ended;
    return ms;
  }
}
