// Cgroup limits for pods and for reserved daemons, by enforceNodeAllocatable. Pure: from amounts to cgroup values.
// Eviction thresholds are not subtracted: eviction must act before a pod reaches these limits.

import { milliValue, value, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
import type { CgroupLimits } from "../cgroups/cgroup-values.js";
import { milliCpuToShares } from "../cpu.js";
import type { NodeResources } from "../node-capacity.js";
import { hugePagesAsked, hugePageSizeName } from "../page-sizes.js";
import { reservedNanos, type Reserved } from "./reserved.js";

export interface EnforcementSettings {
  /** none, pods, system-reserved, kube-reserved, and the latter two with -compressible. */
  enforceNodeAllocatable: readonly string[];
  cgroupsPerQOS: boolean;
  systemReservedCgroup: string;
  kubeReservedCgroup: string;
  /** Gate MemoryQoS: reserved memory is also protected from reclaim. */
  memoryQos: boolean;
}

export interface ReservedCgroup {
  part: "System" | "Kube";
  /** Only CPU: the cgroup's memory and processes are left alone. */
  compressible: boolean;
  cgroup: string;
  limits: CgroupLimits;
}

export interface Enforcement {
  /**
   * Limits of kubepods: the capacity without the reserved amounts. Without enforcement the whole node, because the
   * default CPU shares are low.
   */
  pods: CgroupLimits;
  reserved: ReservedCgroup[];
}

/**
 * @param capacity cpu, memory and huge pages of the node
 * @param pids processes that the kernel allows in all
 */
export function enforcementOf(
  capacity: NodeResources,
  pids: bigint,
  reserved: Reserved,
  settings: EnforcementSettings,
): Enforcement {
  const { enforceNodeAllocatable: listed, cgroupsPerQOS, memoryQos } = settings;
  const whole = new Map<string, ExactQuantity>([
    ...capacity,
    ["pid", { nanos: pids * 1_000_000_000n, format: "DecimalSI" }],
  ]);
  const pods = cgroupsPerQOS && listed.includes("pods") ? without(whole, reserved) : whole;
  const cgroups: ReservedCgroup[] = [];
  for (const [part, entry, cgroup] of [
    ["System", "system-reserved", settings.systemReservedCgroup],
    ["Kube", "kube-reserved", settings.kubeReservedCgroup],
  ] as const) {
    const amounts = new Map(Object.entries(part === "System" ? reserved.system : reserved.kube));
    if (listed.includes(entry)) {
      const limits = cgroupLimits(amounts, false);
      if (memoryQos && limits.memoryBytes !== undefined) limits.memoryMinBytes = limits.memoryBytes;
      cgroups.push({ part, compressible: false, cgroup, limits });
    }
    if (listed.includes(`${entry}-compressible`)) {
      cgroups.push({ part, compressible: true, cgroup, limits: cgroupLimits(amounts, true) });
    }
  }
  return { pods: cgroupLimits(pods, false), reserved: cgroups };
}

function without(capacity: ReadonlyMap<string, ExactQuantity>, reserved: Reserved): Map<string, ExactQuantity> {
  const left = new Map<string, ExactQuantity>();
  for (const [name, { nanos, format }] of capacity) {
    const rest = nanos - reservedNanos(reserved, name);
    left.set(name, { nanos: rest > 0n ? rest : 0n, format });
  }
  return left;
}

/** A resource that is not named is not limited. */
function cgroupLimits(amounts: ReadonlyMap<string, ExactQuantity>, compressible: boolean): CgroupLimits {
  const limits: CgroupLimits = {};
  const cpu = amounts.get("cpu");
  if (cpu !== undefined) limits.cpuShares = milliCpuToShares(milliValue(cpu));
  if (compressible) return limits;
  const [memory, pid] = [amounts.get("memory"), amounts.get("pid")];
  if (memory !== undefined) limits.memoryBytes = value(memory);
  if (pid !== undefined) limits.pids = value(pid);
  const hugePages = [...hugePagesAsked(amounts)].map(([size, bytes]) => [hugePageSizeName(size), bytes] as const);
  if (hugePages.length > 0) limits.hugePages = new Map(hugePages);
  return limits;
}
