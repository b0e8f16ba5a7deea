// Rows of a cgroup's disk I/O, and of the file systems of the node. A figure that the kernel does not count has no row.

import type { BlockFigures, Operations } from "../../../../shared/node/stats/cgroup-figures.js";
import type { DiskCounters } from "../disk-counters.js";
import type { CadvisorFamily } from "./cadvisor-families.js";

const NANOS = 1e9;
const MICROS = 1e6;

/** A row of this family with these labels besides the cgroup's own. */
export type DiskRow = (
  family: CadvisorFamily,
  value: number | undefined,
  further: { device: string; major?: string; minor?: string; operation?: string },
) => void;

/** @param device its name, "" when it is not known */
export function blockRows(one: BlockFigures, device: string, row: DiskRow): void {
  const [major = "", minor = ""] = one.device.split(":");
  for (const [operation, value] of Object.entries(one.bytes ?? {})) {
    row("container_blkio_device_usage_total", value, { device, major, minor, operation });
  }
  const of = (operations: Operations | undefined, name: string, unit = 1): number | undefined =>
    operations === undefined ? undefined : (operations[name] ?? 0) / unit;
  const { bytes, served, sectors, serviceTime, merged, queued, cost } = one;
  const at = { device };
  row("container_fs_reads_bytes_total", of(bytes, "Read"), at);
  row("container_fs_writes_bytes_total", of(bytes, "Write"), at);
  row("container_fs_reads_total", of(served, "Read"), at);
  row("container_fs_writes_total", of(served, "Write"), at);
  row("container_fs_sector_reads_total", of(sectors, "Read"), at);
  row("container_fs_sector_writes_total", of(sectors, "Write"), at);
  row("container_fs_reads_merged_total", of(merged, "Read"), at);
  row("container_fs_writes_merged_total", of(merged, "Write"), at);
  row("container_fs_read_seconds_total", of(serviceTime, "Read", NANOS), at);
  row("container_fs_write_seconds_total", of(serviceTime, "Write", NANOS), at);
  row("container_fs_io_time_seconds_total", of(serviceTime, "Total", NANOS), at);
  row("container_fs_io_current", of(queued, "Total"), at);
  if (cost === undefined) return;
  row("container_fs_io_cost_usage_seconds_total", cost.usage / MICROS, at);
  row("container_fs_io_cost_wait_seconds_total", cost.wait / MICROS, at);
  row("container_fs_io_cost_indebt_seconds_total", cost.indebt / MICROS, at);
  row("container_fs_io_cost_indelay_seconds_total", cost.indelay / MICROS, at);
}

/** The machine's counters of the disk below a file system, without those for which the root cgroup has rows already. */
export function diskRows(device: string, disk: DiskCounters, counted: BlockFigures | undefined, row: DiskRow): void {
  const at = { device };
  if (counted?.served === undefined) {
    row("container_fs_reads_total", disk.reads, at);
    row("container_fs_writes_total", disk.writes, at);
  }
  if (counted?.sectors === undefined) {
    row("container_fs_sector_reads_total", disk.sectorsRead, at);
    row("container_fs_sector_writes_total", disk.sectorsWritten, at);
  }
  if (counted?.merged === undefined) {
    row("container_fs_reads_merged_total", disk.readsMerged, at);
    row("container_fs_writes_merged_total", disk.writesMerged, at);
  }
  if (counted?.serviceTime === undefined) {
    row("container_fs_read_seconds_total", disk.readSeconds, at);
    row("container_fs_write_seconds_total", disk.writeSeconds, at);
    row("container_fs_io_time_seconds_total", disk.ioSeconds, at);
  }
  if (counted?.queued === undefined) row("container_fs_io_current", disk.inProgress, at);
  row("container_fs_io_time_weighted_seconds_total", disk.weightedIoSeconds, at);
}
