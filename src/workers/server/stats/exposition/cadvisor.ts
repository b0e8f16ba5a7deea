// /metrics/cadvisor: rows of the cgroups of the node, its system daemons and its pods. Labels are sorted by name, as in
// upstream's client. A value without a time does not change between readings.

import type { CgroupPressure, DetailFigures } from "../../../../shared/node/stats/cgroup-figures.js";
import type { MachineFacts } from "../../../../shared/node/stats/machine.js";
import type { InterfaceFigures } from "../../../../shared/node/stats/net-dev.js";
import { numberText } from "../../metrics/number-text.js";
import type { DiskCounters } from "../disk-counters.js";
import type { ProcessFigures } from "../process-figures.js";
import type { Reading } from "../readings.js";
import { blockRows, diskRows, type DiskRow } from "./cadvisor-disks.js";
import { CADVISOR_FAMILIES, type CadvisorFamily } from "./cadvisor-families.js";
import { CgroupLabels, type OwnLabels } from "./cadvisor-labels.js";
import { labelText, Page } from "./text.js";

const NANOS = 1e9;
const MICROS = 1e6;
const TASK_STATES = ["iowaiting", "running", "sleeping", "stopped", "uninterruptible"];

/** One cgroup's rows. An undefined value has no row. */
export interface CadvisorCgroup {
  labels: OwnLabels;
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
  /** Kernel's counters of the disk below a file system of the root cgroup. */
  disk?: DiskCounters;
  used: number;
  limit?: number;
  inodes?: number;
  inodesFree?: number;
}

/** Adds rows to a page, family by family. */
export class CadvisorPage {
  readonly page = new Page();
  /** Names of disks by their numbers, "8:0". */
  private readonly devices: ReadonlyMap<string, string>;

  constructor(disks: readonly DiskCounters[] = []) {
    this.devices = new Map(disks.map(({ number, name }) => [number, `/dev/${name}`]));
  }

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
    for (const { type, count, capacity } of facts.memoryModules) {
      const typed = labelText([...ids, ["type", type]]);
      this.row("machine_dimm_capacity_bytes", typed, capacity);
      this.row("machine_dimm_count", typed, count);
    }
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
    const labels = new CgroupLabels(cgroup.labels, reading.path);
    const { plain } = labels;
    this.row("container_last_seen", plain, Math.floor(seenAt / 1000), seenAt);
    this.row("container_start_time_seconds", plain, Math.floor(startedAt / 1000));
    this.row("container_health_state", plain, -1, at);
    this.cpu(cgroup, labels);
    this.memory(cgroup, labels);
    this.row("container_oom_events_total", plain, details.oomEvents, at);
    this.row("container_spec_cpu_period", plain, details.period);
    this.row("container_spec_cpu_quota", plain, details.quota);
    this.row("container_spec_cpu_shares", plain, details.shares);
    this.processes(cgroup, labels);
    if (cgroup.pressure !== undefined) this.pressure(cgroup.pressure, plain, at);
    for (const one of cgroup.network ?? []) this.network(one, labels.with({ interface: one.name }), at);
    this.disks(cgroup, labels);
  }

  private cpu({ reading: { at, cpu }, details }: CadvisorCgroup, labels: CgroupLabels): void {
    if (cpu === undefined) return;
    const { plain } = labels;
    this.row("container_cpu_usage_seconds_total", labels.with({ cpu: "total" }), cpu.usage / NANOS, at);
    this.row("container_cpu_user_seconds_total", plain, details.user / NANOS, at);
    this.row("container_cpu_system_seconds_total", plain, details.system / NANOS, at);
    this.row("container_cpu_load_average_10s", plain, 0, at);
    this.row("container_cpu_load_d_average_10s", plain, 0, at);
    if (details.quota === undefined) return;
    this.row("container_cpu_cfs_periods_total", plain, details.periods, at);
    this.row("container_cpu_cfs_throttled_periods_total", plain, details.throttledPeriods, at);
    this.row("container_cpu_cfs_throttled_seconds_total", plain, details.throttled / NANOS, at);
    this.row("container_cpu_cfs_burst_periods_total", plain, details.burstPeriods, at);
    this.row("container_cpu_cfs_burst_seconds_total", plain, details.burst / NANOS, at);
  }

  private memory(cgroup: CadvisorCgroup, labels: CgroupLabels): void {
    const { reading, details, memoryLimit } = cgroup;
    const { plain } = labels;
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
      const of = (failure_type: string): string => labels.with({ failure_type, scope });
      this.row("container_memory_failures_total", of("pgfault"), memory.pageFaults, at);
      this.row("container_memory_failures_total", of("pgmajfault"), memory.majorPageFaults, at);
    }
    this.row("container_spec_memory_limit_bytes", plain, memoryLimit);
    this.row("container_spec_memory_reservation_limit_bytes", plain, details.memoryReservation ?? 0);
    this.row("container_spec_memory_swap_limit_bytes", plain, memory.swapLimit ?? 0);
  }

  private processes({ processes, details, reading: { at } }: CadvisorCgroup, labels: CgroupLabels): void {
    const { plain } = labels;
    this.row("container_threads", plain, details.threads, at);
    this.row("container_threads_max", plain, details.threadsMax ?? 0, at);
    for (const state of TASK_STATES) this.row("container_tasks_state", labels.with({ state }), 0, at);
    if (processes === undefined) return;
    this.row("container_processes", plain, processes.count, at);
    this.row("container_file_descriptors", plain, processes.files, at);
    this.row("container_sockets", plain, processes.sockets, at);
    if (processes.openFilesLimit === undefined) return;
    const limit = Number.isFinite(processes.openFilesLimit) ? processes.openFilesLimit : -1;
    this.row("container_ulimits_soft", labels.with({ ulimit: "max_open_files" }), limit, at);
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

  private disks({ reading: { at }, details, fs = [] }: CadvisorCgroup, labels: CgroupLabels): void {
    const row: DiskRow = (family, value, further) => {
      if (value !== undefined) this.row(family, labels.with(further), value, at);
    };
    for (const one of details.block) blockRows(one, this.devices.get(one.device) ?? "", row);
    for (const { device, disk, used, limit, inodes, inodesFree } of fs) {
      row("container_fs_usage_bytes", used, { device });
      row("container_fs_limit_bytes", limit, { device });
      row("container_fs_inodes_total", inodes, { device });
      row("container_fs_inodes_free", inodesFree, { device });
      if (disk === undefined) continue;
      const counted = details.block.find((one) => one.device === disk.number);
      diskRows(device, disk, counted, row);
    }
  }

  private row(name: CadvisorFamily, labels: string, value: number | undefined, at?: number): void {
    if (value === undefined) return;
    const [type, help] = CADVISOR_FAMILIES[name];
    const braces = labels === "" ? "" : `{${labels}}`;
    const time = at === undefined ? "" : ` ${at}`;
    this.page.family(name, type, help).push(`${name}${braces} ${numberText(value)}${time}`);
  }
}
