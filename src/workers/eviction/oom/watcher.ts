// Reports OOM kills to main from the kernel log. If the log is unreadable, the counters of the cgroups serve. Runs with
// every memory reading.
// Invariant: it never throws; a missing source is logged once.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { EvictionRecord } from "../../../shared/contracts/eviction.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ownerOf } from "./cgroup-owner.js";
import type { OomCounters } from "./counters.js";
import { KernelLog, type LogDevice } from "./kernel-log.js";
import { OomReports, type OomKill } from "./reports.js";

/** Reports per round: a burst of kills must not fill the queue that orders go through. */
const MAX_REPORTED = 50;

export interface OomWatcherDeps {
  /** As openKernelLog. */
  open: () => LogDevice;
  counters: Pick<OomCounters, "sample">;
  /** Is this pod one of ours? */
  known: (uid: PodUid) => boolean;
  publish: (record: EvictionRecord) => void;
  clock: Pick<Clock, "now">;
  log: Pick<Logger, "warn" | "info">;
}

export class OomWatcher implements Disposable {
  private readonly reports = new OomReports();
  private kernelLog: KernelLog | undefined;
  private lostSaid = false;

  constructor(private readonly deps: OomWatcherDeps) {
    try {
      this.kernelLog = new KernelLog(deps.open());
    } catch (error) {
      this.reportNoLog(error);
    }
    // Read the log to its end: kills from now on are reported, although the first round comes later.
    if (this.kernelLog !== undefined) this.logged(this.kernelLog);
  }

  reportKills(): void {
    const kills = this.kernelLog === undefined ? this.counted() : this.logged(this.kernelLog);
    for (const kill of kills.slice(0, MAX_REPORTED)) this.report(kill);
    const rest = kills.length - MAX_REPORTED;
    if (rest > 0) this.deps.log.warn({ rest }, `the OOM killer killed ${rest} more processes at the same time`);
  }

  [Symbol.dispose](): void {
    this.kernelLog?.[Symbol.dispose]();
    this.kernelLog = undefined;
  }

  private logged(kernelLog: KernelLog): OomKill[] {
    const kills: OomKill[] = [];
    try {
      for (const entry of kernelLog.entries()) {
        if (entry === "lost") this.reportLost();
        const kill = this.reports.read(entry);
        if (kill !== undefined) kills.push(kill);
      }
    } catch (error) {
      this[Symbol.dispose]();
      this.reportNoLog(error);
    }
    return kills;
  }

  private counted(): OomKill[] {
    return this.deps.counters.sample().map((task) => ({ pid: 0, process: "", limit: undefined, task }));
  }

  private report({ pid, process, limit = "", task }: OomKill): void {
    const { publish, known, clock } = this.deps;
    const owner = task === undefined ? {} : ownerOf(task, known);
    publish({ kind: "oom", pid, process, cgroup: limit, ...owner, at: clock.now() });
  }

  private reportNoLog(error: unknown): void {
    const allow = ["EPERM", "EACCES"].includes(errorCode(error) ?? "") ? "; give the kubelet CAP_SYSLOG" : "";
    this.deps.log.warn(
      {},
      `cannot read the kernel's log; detecting OOM kills by the cgroups' counters only, without process names: ` +
        `${errorText(error)}${allow}`,
    );
  }

  private reportLost(): void {
    if (this.lostSaid) return;
    this.lostSaid = true;
    this.deps.log.warn({}, "the kernel's log overflowed before it was read; OOM kills may have been missed");
  }
}
