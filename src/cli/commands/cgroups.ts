// nodelet cgroups: limits and usage of the cgroups of QoS classes, pods and containers, read from the kernel.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { readCgroupMounts } from "../../shared/node/cgroup/mounts.js";
import type { CgroupReader } from "../../shared/node/stats/cgroup-figures.js";
import { CgroupReaderV1 } from "../../shared/node/stats/cgroup/v1.js";
import { CgroupReaderV2 } from "../../shared/node/stats/cgroup/v2.js";
import { listKernelDirectories, readKernelText } from "../../shared/node/stats/kernel-file.js";
import { PodCgroups } from "../../shared/node/stats/pod-cgroups.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, type Column } from "../output/table.js";
import { fullName, podsOf } from "../pods/find.js";

interface CgroupLine {
  /** "pods", "default/web", "default/web app". */
  owner: string;
  path: string;
  /** CPUs; absent: no limit. */
  cpuLimit?: number | undefined;
  cpuShares?: number;
  throttledPeriods?: number;
  memoryBytes?: number | undefined;
  memoryLimitBytes?: number | undefined;
  oomEvents?: number;
  processes?: number | undefined;
  processLimit?: number | undefined;
}

interface CgroupConfig {
  cgroupRoot?: string;
  cgroupsPerQOS?: boolean;
}

export async function cgroupsCommand(context: Context, { namespace }: { namespace?: string }): Promise<ExitCode> {
  const { client } = context;
  const [pods, { kubeletconfig }, mounts] = await Promise.all([
    podsOf(client),
    client.json<{ kubeletconfig: CgroupConfig }>("/configz"),
    readCgroupMounts(),
  ]);
  const reader =
    mounts.version === 2
      ? new CgroupReaderV2(mounts.mountPoint, readKernelText, listKernelDirectories)
      : new CgroupReaderV1(mounts, readKernelText, listKernelDirectories);
  const chosen = pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  const lines = cgroupLines(reader, kubeletconfig, chosen);
  await print(context, lines, () => cgroupsText(context, lines));
  return EXIT.fine;
}

function cgroupLines(
  reader: CgroupReader,
  { cgroupRoot = "", cgroupsPerQOS = true }: CgroupConfig,
  pods: readonly Pod[],
): CgroupLine[] {
  const places = new PodCgroups({ cgroupRoot, cgroupsPerQOS }, reader);
  const line = (owner: string, path: string): CgroupLine => ({
    owner,
    path,
    ...figures(reader, path),
  });
  const found = pods
    .toSorted((a, b) => (fullName(a) < fullName(b) ? -1 : 1))
    .flatMap((pod) => {
      const place = places.find(pod);
      if (place === undefined) return [];
      const containers = place.containers.map(({ name, path }) => line(`${fullName(pod)} ${name}`, path));
      const sandbox = place.sandbox === undefined ? [] : [line(`${fullName(pod)} (sandbox)`, place.sandbox.path)];
      return [line(fullName(pod), place.path), ...containers, ...sandbox];
    });
  // After the pods' places are known, the driver is.
  const above = places.above().sort((a, b) => a.length - b.length);
  return [...above.map((path) => line(ownerOf(path), path)), ...found];
}

function figures(reader: CgroupReader, path: string): Partial<CgroupLine> {
  const memory = reader.memory(path);
  const details = reader.details(path);
  const { shares, period, quota, throttledPeriods, oomEvents, threads, threadsMax } = details;
  return {
    cpuShares: shares,
    cpuLimit: quota !== undefined && period > 0 ? quota / period : undefined,
    throttledPeriods,
    oomEvents,
    memoryBytes: memory?.workingSet,
    memoryLimitBytes: memory?.limit,
    processes: threads,
    processLimit: threadsMax,
  };
}

function ownerOf(path: string): string {
  const [, qos] = /(burstable|besteffort)(?:\.slice)?$/.exec(path) ?? [];
  return qos === undefined ? "all pods" : `QoS class ${qos === "burstable" ? "Burstable" : "BestEffort"}`;
}

/** @internal */
export function cgroupsText(
  { columns: width, format }: Pick<Context, "columns" | "format">,
  lines: readonly CgroupLine[],
): string {
  if (lines.length === 0) return "no pod has a cgroup\n";
  const or = <T>(value: T | undefined, text: (value: T) => string, none = "-"): string =>
    value === undefined ? none : text(value);
  const columns: Column<CgroupLine>[] = [
    { title: "CGROUP OF", text: ({ owner }) => owner },
    { title: "CPU LIMIT", text: ({ cpuLimit }) => or(cpuLimit, (value) => `${Math.round(value * 1000)}m`, "none") },
    { title: "SHARES", text: ({ cpuShares }) => or(cpuShares, String) },
    { title: "THROTTLED", text: ({ throttledPeriods }) => or(throttledPeriods, String) },
    { title: "MEMORY", text: ({ memoryBytes }) => or(memoryBytes, bytes) },
    { title: "LIMIT", text: ({ memoryLimitBytes }) => or(memoryLimitBytes, bytes, "none") },
    { title: "OOM", text: ({ oomEvents }) => or(oomEvents, String) },
    {
      title: "TASKS",
      text: ({ processes, processLimit }) => `${or(processes, String)}${or(processLimit, (most) => ` of ${most}`, "")}`,
    },
  ];
  const wide: Column<CgroupLine>[] = [{ title: "PATH", text: ({ path }) => path }];
  return table(format === "wide" ? [...columns, ...wide] : columns, lines, width);
}
