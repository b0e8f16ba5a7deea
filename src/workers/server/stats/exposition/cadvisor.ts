// /metrics/cadvisor: rows of every cgroup of the node that is somebody's. Labels stand in the order of their names, as upstream's
// client writes them. A value without a time is one that does not change with the reading.
import type { BlockFigures, CgroupPressure, DetailFigures } from "../../../../shared/stats/cgroup-figures.js";
import type { MachineFacts } from "../../../../shared/stats/machine.js";
import type { InterfaceFigures } from "../net-dev.js";
import type { ProcessFigures } from "../process-figures.js";
import type { Reading } from "../readings.js";
import { CADVISOR_FAMILIES, type CadvisorFamily } from "./cadvisor-families.js";
import { escapeLabel, labelText, numberText, Page } from "./text.js";

const NANOS = 1e9;
const MICROS = 1e6;
const TASK_STATES = ["iowaiting", "running", "sleeping", "stopped", "uninterruptible"];

/** One cgroup's rows. What is undefined has no row. */
export interface CadvisorCgroup {
  labels: { container: string; image: string; name: string; namespace: string; pod: string };
  reading: Reading;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Milliseconds since the epoch. */
  seenAt: number;
  details: DetailFigures;
  /** Bytes; a cgroup without a limit has 0. */
  memoryLimit: number;
  pressure?: CgroupPressure;
  processes?: ProcessFigures & { count: number };
  network?: readonly InterfaceFigures[];
  fs?: readonly DeviceFigures[];
}

export interface DeviceFigures {
  device: string;
  used: number;
  limit?: number;
  inodes?: number;
  inodesFree?: number;
}

/** Adds rows to a page, family by family. */
export class CadvisorPage {
  readonly page = new Page();

  machine(facts: MachineFacts, swap: number): void {
    const ids = [
      ["boot_id", facts.bootId],
      ["machine_id", facts.machineId],
      ["system_uuid", facts.systemUuid],
    ] as const;
    const [boot, machine, system] = ids;
    const labels = labelText(ids);
    this.row("machine_cpu_books", labels, 0);
    this.row("machine_cpu_cores", labels, facts.cores);
    this.row("machine_cpu_drawers", labels, 0);
    this.row("machine_cpu_physical_cores", labels, facts.physicalCores);
    this.row("machine_cpu_sockets", labels, facts.sockets);
    this.row("machine_memory_bytes", labels, facts.memory);
    this.row("machine_nvm_avg_power_budget_watts", labels, 0);
    for (const mode of ["app_direct_mode", "memory_mode"]) {
      this.row("machine_nvm_capacity", labelText([boot, machine, ["mode", mode], system]), 0);
    }
    this.row("machine_swap_bytes", labels, swap);
    const versions = [
      ["cadvisorRevision", ""],
      ["cadvisorVersion", ""],
      ["dockerVersion", ""],
      ["kernelVersion", facts.kernelVersion],
      ["osVersion", facts.osVersion],
    ] as const;
    this.row("cadvisor_version_info", labelText(versions), 1);
  }

  /** 1: something could not be read. */
  errors(containers: 0 | 1, machine: 0 | 1): void {
    this.row("container_scrape_error", "", containers);
    this.row("machine_scrape_error", "", machine);
  }

  cgroup(cgroup: CadvisorCgroup): void {
    const { reading, details, startedAt, seenAt } = cgroup;
    const { at } = reading;
    const labels = this.labels(cgroup);
    const plain = labels();
    this.row("container_last_seen", plain, Math.floor(seenAt / 1000), seenAt);
    this.row("container_start_time_seconds", plain, Math.floor(startedAt / 1000));
    this.row("container_health_state", plain, -1, at);
    this.cpu(cgroup, plain, labels);
    this.memory(cgroup, plain, labels);
    this.row("container_oom_events_total", plain, details.oomEvents, at);
    this.row("container_spec_cpu_period", plain, details.period);
    this.row("container_spec_cpu_quota", plain, details.quota);
    this.row("container_spec_cpu_shares", plain, details.shares);
    this.processes(cgroup, plain, labels);
    if (cgroup.pressure !== undefined) this.pressure(cgroup.pressure, plain, at);
    for (const one of cgroup.network ?? []) this.network(one, labels({ interface: one.name }), at);
    for (const one of details.block) this.block(one, labels, at);
    for (const one of cgroup.fs ?? []) this.fs(one, labels({ device: one.device }), at);
  }

  private cpu({ reading: { at, cpu }, details }: CadvisorCgroup, plain: string, labels: Labels): void {
    if (cpu === undefined) return;
    this.row("container_cpu_usage_seconds_total", labels({ cpu: "total" }), cpu.usage / NANOS, at);
    this.row("container_cpu_user_seconds_total", plain, cpu.user / NANOS, at);
    this.row("container_cpu_system_seconds_total", plain, cpu.system / NANOS, at);
    this.row("container_cpu_load_average_10s", plain, 0, at);
    this.row("container_cpu_load_d_average_10s", plain, 0, at);
    if (details.quota === undefined) return;
    this.row("container_cpu_cfs_periods_total", plain, details.periods, at);
    this.row("container_cpu_cfs_throttled_periods_total", plain, details.throttledPeriods, at);
    this.row("container_cpu_cfs_throttled_seconds_total", plain, details.throttled / NANOS, at);
    this.row("container_cpu_cfs_burst_periods_total", plain, details.burstPeriods, at);
    this.row("container_cpu_cfs_burst_seconds_total", plain, details.burst / NANOS, at);
  }

  private memory(cgroup: CadvisorCgroup, plain: string, labels: Labels): void {
    const { reading, details, memoryLimit } = cgroup;
    const { at, memory } = reading;
    if (memory === undefined) return;
    this.row("container_memory_cache", plain, memory.cache, at);
    this.row("container_memory_failcnt", plain, details.memoryFailures, at);
    this.row("container_memory_kernel_usage", plain, details.kernelMemory, at);
    this.row("container_memory_mapped_file", plain, memory.mapped, at);
    this.row("container_memory_max_usage_bytes", plain, details.maxMemory, at);
    this.row("container_memory_rss", plain, memory.rss, at);
    this.row("container_memory_swap", plain, memory.swap, at);
    this.row("container_memory_total_active_file_bytes", plain, memory.activeFile, at);
    this.row("container_memory_total_inactive_file_bytes", plain, memory.inactiveFile, at);
    this.row("container_memory_usage_bytes", plain, memory.usage, at);
    this.row("container_memory_working_set_bytes", plain, memory.workingSet, at);
    for (const scope of ["container", "hierarchy"]) {
      const of = (failure_type: string): string => labels({ failure_type, scope });
      this.row("container_memory_failures_total", of("pgfault"), memory.pageFaults, at);
      this.row("container_memory_failures_total", of("pgmajfault"), memory.majorPageFaults, at);
    }
    this.row("container_spec_memory_limit_bytes", plain, memoryLimit);
    this.row("container_spec_memory_reservation_limit_bytes", plain, details.memoryReservation ?? 0);
    this.row("container_spec_memory_swap_limit_bytes", plain, memory.swapLimit ?? 0);
  }

  private processes({ processes, details, reading: { at } }: CadvisorCgroup, plain: string, labels: Labels): void {
    this.row("container_threads", plain, details.threads, at);
    this.row("container_threads_max", plain, details.threadsMax ?? 0, at);
    for (const state of TASK_STATES) this.row("container_tasks_state", labels({ state }), 0, at);
    if (processes === undefined) return;
    this.row("container_processes", plain, processes.count, at);
    this.row("container_file_descriptors", plain, processes.files, at);
    this.row("container_sockets", plain, processes.sockets, at);
    if (processes.openFilesLimit === undefined) return;
    const limit = Number.isFinite(processes.openFilesLimit) ? processes.openFilesLimit : -1;
    this.row("container_ulimits_soft", labels({ ulimit: "max_open_files" }), limit, at);
  }

  private pressure({ cpu, memory, io }: CgroupPressure, plain: string, at: number): void {
    this.row("container_pressure_cpu_stalled_seconds_total", plain, cpu.full.total / MICROS, at);
    this.row("container_pressure_cpu_waiting_seconds_total", plain, cpu.some.total / MICROS, at);
    this.row("container_pressure_io_stalled_seconds_total", plain, io.full.total / MICROS, at);
    this.row("container_pressure_io_waiting_seconds_total", plain, io.some.total / MICROS, at);
    this.row("container_pressure_memory_stalled_seconds_total", plain, memory.full.total / MICROS, at);
    this.row("container_pressure_memory_waiting_seconds_total", plain, memory.some.total / MICROS, at);
  }

  private network(one: InterfaceFigures, labels: string, at: number): void {
    this.row("container_network_receive_bytes_total", labels, one.rxBytes, at);
    this.row("container_network_receive_errors_total", labels, one.rxErrors, at);
    this.row("container_network_receive_packets_dropped_total", labels, one.rxDropped, at);
    this.row("container_network_receive_packets_total", labels, one.rxPackets, at);
    this.row("container_network_transmit_bytes_total", labels, one.txBytes, at);
    this.row("container_network_transmit_errors_total", labels, one.txErrors, at);
    this.row("container_network_transmit_packets_dropped_total", labels, one.txDropped, at);
    this.row("container_network_transmit_packets_total", labels, one.txPackets, at);
  }

  private block({ device, ...figures }: BlockFigures, labels: Labels, at: number): void {
    const [major = "", minor = ""] = device.split(":");
    const usage = (operation: string, value: number): void =>
      this.row("container_blkio_device_usage_total", labels({ device, major, minor, operation }), value, at);
    usage("Read", figures.readBytes);
    usage("Write", figures.writtenBytes);
    const plain = labels({ device });
    this.row("container_fs_reads_bytes_total", plain, figures.readBytes, at);
    this.row("container_fs_reads_total", plain, figures.reads, at);
    this.row("container_fs_writes_bytes_total", plain, figures.writtenBytes, at);
    this.row("container_fs_writes_total", plain, figures.writes, at);
  }

  private fs({ used, limit, inodes, inodesFree }: DeviceFigures, labels: string, at: number): void {
    this.row("container_fs_usage_bytes", labels, used, at);
    this.row("container_fs_limit_bytes", labels, limit, at);
    this.row("container_fs_inodes_total", labels, inodes, at);
    this.row("container_fs_inodes_free", labels, inodesFree, at);
  }

  /** Of one cgroup: its own labels, with further ones among them. */
  private labels({ labels, reading }: CadvisorCgroup): Labels {
    const own = { ...labels, id: reading.path };
    const fixed = Object.entries(own).map(([name, value]) => [name, `${name}="${escapeLabel(value)}"`] as const);
    return (further = {}) => {
      const more = Object.entries(further).map(([name, value]) => [name, `${name}="${escapeLabel(value)}"`] as const);
      return [...fixed, ...more]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, text]) => text)
        .join(",");
    };
  }

  private row(name: CadvisorFamily, labels: string, value: number | undefined, at?: number): void {
    if (value === undefined) return;
    const [type, help] = CADVISOR_FAMILIES[name];
    const braces = labels === "" ? "" : `{${labels}}`;
    const time = at === undefined ? "" : ` ${at}`;
    this.page.family(name, type, help).push(`${name}${braces} ${numberText(value)}${time}`);
  }
}

type Labels = (further?: Record<string, string>) => string;
