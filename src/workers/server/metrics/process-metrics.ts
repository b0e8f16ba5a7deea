// process_*: usage of the whole process, read from /proc/self by one thread only (the server's, so that no other thread
// ever waits for it). prom-client's own collectors read /proc synchronously and keep event-loop timers: not used.

import { readdir, readFile } from "node:fs/promises";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Kernel clock ticks per second as /proc reports them (USER_HZ), 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Declares process_*; `proc` is the /proc folder to read (tests pass their own). */
export function processMetrics(registry: ThreadRegistry, proc = "/proc"): void {
  const cpu = registry.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds");
  const virtual = registry.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes");
  const fds = registry.gauge("process_open_fds", "Number of open file descriptors");
  const maxFds = registry.gauge("process_max_fds", "Maximum number of open file descriptors");
  const resident = registry.gauge("process_resident_memory_bytes", "Resident memory size in bytes");
  const maxVirtual = registry.gauge(
    "process_virtual_memory_max_bytes",
    "Maximum amount of virtual memory available in bytes; 2^64 without a limit",
  );
  const received = registry.counter(
    "process_network_receive_bytes_total",
    "Number of bytes received by the process's network namespace",
  );
  const sent = registry.counter(
    "process_network_transmit_bytes_total",
    "Number of bytes sent by the process's network namespace",
  );
  processStartTime(registry, proc);
  let network = { received: 0, sent: 0 };
  let cpuSeen = 0;
  registry.onSnapshot(async () => {
    const [stat, limits, netstat, open] = await Promise.all([
      readFile(`${proc}/self/stat`, "utf8"),
      readFile(`${proc}/self/limits`, "utf8"),
      readFile(`${proc}/self/net/netstat`, "utf8").catch(() => ""),
      readdir(`${proc}/self/fd`),
    ]);
    const fields = parseStat(stat);
    const cpuSeconds = fields.cpuTicks / TICKS_PER_SECOND;
    cpu.inc(Math.max(0, cpuSeconds - cpuSeen));
    cpuSeen = Math.max(cpuSeen, cpuSeconds);
    resident.set(process.memoryUsage.rss());
    virtual.set(fields.virtualBytes);
    // The folder's own descriptor was open while it was listed.
    fds.set(open.length - 1);
    maxFds.set(Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity));
    maxVirtual.set(Number(/^Max address space\s+(\d+)/m.exec(limits)?.[1] ?? 2 ** 64));
    const moved = networkBytes(netstat);
    received.inc(Math.max(0, moved.received - network.received));
    sent.inc(Math.max(0, moved.sent - network.sent));
    network = moved;
  });
}

/** Sums the bytes in /proc/PID/net/netstat: each group has a line of names and one of figures. @internal */
export function networkBytes(text: string): { received: number; sent: number } {
  const [names = [], figures = []] = text
    .split("\n")
    .filter((line) => line.startsWith("IpExt:"))
    .map((line) => line.split(" "));
  const of = (name: string): number => Number(figures[names.indexOf(name)] ?? 0);
  return { received: of("InOctets"), sent: of("OutOctets") };
}

/** Declares process_start_time_seconds, which every metrics page shows. */
export function processStartTime(registry: ThreadRegistry, proc = "/proc"): void {
  const started = registry.gauge(
    "process_start_time_seconds",
    "Start time of the process since the Unix epoch in seconds",
  );
  registry.onSnapshot(async () => started.set(await processStartedAt(proc)));
}

/** Seconds since the epoch. */
export async function processStartedAt(proc = "/proc"): Promise<number> {
  const [stat, host] = await Promise.all([readFile(`${proc}/self/stat`, "utf8"), readFile(`${proc}/stat`, "utf8")]);
  const booted = Number(/^btime (\d+)/m.exec(host)?.[1] ?? 0);
  return booted + parseStat(stat).startTicks / TICKS_PER_SECOND;
}

/**
 * Fields of /proc/PID/stat (proc(5)); the command in parentheses may hold anything, so count from its last ")".
 * @internal
 */
export function parseStat(text: string): { cpuTicks: number; startTicks: number; virtualBytes: number } {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (field: number): number => Number(fields[field - 3] ?? 0);
  return { cpuTicks: at(14) + at(15), startTicks: at(22), virtualBytes: at(23) };
}
