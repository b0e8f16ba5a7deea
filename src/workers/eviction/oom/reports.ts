// Parses the OOM killer's lines of all kernel versions: the killed process, and the cgroup at its limit.
//   since 5.0:  "oom-kill:constraint=…,oom_memcg=LIMIT,task_memcg=TASK,task=NAME,pid=N,uid=N",
//               or "global_oom" for oom_memcg
//   before 5.0: "Task in TASK killed as a result of limit of LIMIT"; no such line when the machine's memory is full
// Both end with "Killed process N (NAME)". Before 5.3 it may be a child of the selected process. The kernel omits all
// but the last line after ten reports within five seconds. Reports never overlap.

import type { KernelEntry } from "./kernel-log.js";

export interface OomKill {
  pid: number;
  process: string;
  /** The cgroup whose limit was reached; "/": the machine's memory was out; undefined: some cgroup's. */
  limit: string | undefined;
  /** The cgroup of the process. */
  task: string | undefined;
}

/** The announcement that precedes the kill. */
interface Report {
  limit?: string | undefined;
  task?: string | undefined;
  /** Set only if this process is certainly the killed one. */
  pid?: number;
}

const INVOKED = / invoked oom-killer: /;
const SUMMARY = /^oom-kill:constraint=.*?,(?:global_oom|oom_memcg=(.*)),task_memcg=(.*),task=.*,pid=(\d+),uid=\d+$/;
const TASK_IN = /^Task in (.*) killed as a result of limit of (.*)$/;
const CHOSEN = /^(Memory cgroup o|O)ut of memory(?: \([^)]*\))?: Kill process \d+ /;
const KILLED = /^(?:(Memory cgroup o|O)ut of memory(?: \([^)]*\))?: )?Killed process (\d+) \((.*)\),? (?:UID|total-vm)/;
const GROUP = /^Tasks in .* are going to be killed due to memory\.oom\.group set$/;
/** The other members of a group die right after the announced one, µs. */
const GROUP_US = 1_000_000;

export class OomReports {
  private report: Report | undefined;
  private groupUntil = 0;

  /** A kill, when this line ends a report. Of a cgroup that is killed whole, the first process only. */
  read(entry: KernelEntry): OomKill | undefined {
    if (entry === "lost") {
      this.report = undefined;
      return undefined;
    }
    const { at, text } = entry;
    const killed = KILLED.exec(text);
    if (killed !== null) return this.killed(at, killed);
    if (INVOKED.test(text)) this.report = {};
    else if (GROUP.test(text)) this.groupUntil = at + GROUP_US;
    else this.parse(text);
    return undefined;
  }

  private parse(text: string): void {
    const summary = SUMMARY.exec(text);
    if (summary !== null) {
      const [, limit = "/", task = "", pid] = summary;
      this.report = { limit, task, pid: Number(pid) };
      return;
    }
    const taskIn = TASK_IN.exec(text);
    if (taskIn !== null) {
      const [, task = "", limit = ""] = taskIn;
      this.report = { limit, task };
      return;
    }
    const [chosen, scope] = CHOSEN.exec(text) ?? [];
    if (chosen === undefined) return;
    this.report = { limit: this.report?.limit ?? limitOf(scope), task: this.report?.task };
  }

  private killed(at: number, [, scope, number, process = ""]: RegExpExecArray): OomKill | undefined {
    const pid = Number(number);
    const { report } = this;
    this.report = undefined;
    const match = report?.pid === undefined || report.pid === pid ? report : undefined;
    if (match === undefined && at < this.groupUntil) return undefined;
    this.groupUntil = 0;
    return { pid, process, limit: match?.limit ?? limitOf(scope), task: match?.task };
  }
}

/** "Out of memory" and "Memory cgroup out of memory". */
function limitOf(scope: string | undefined): string | undefined {
  return scope === "O" ? "/" : undefined;
}
