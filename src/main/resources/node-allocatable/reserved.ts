// The reserved part of the node: for the system, for Kubernetes' own daemons, and CPUs by number. Pure.
// Source: https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { parseCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { printQuantity, ZERO, type ExactQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { parseEviction, type EvictionThresholds } from "../../command/rules/parse-eviction.js";
import { parseReserved, type ReservedResources } from "../../command/rules/parse-reserved.js";
import type { NodeResources } from "../node-capacity.js";

export interface ReservedSettings {
  kubeReserved: Readonly<Record<string, string>>;
  systemReserved: Readonly<Record<string, string>>;
  /** A list of CPUs: "0-1". */
  reservedSystemCPUs: string;
}

export interface Reserved {
  kube: ReservedResources;
  system: ReservedResources;
}

export interface EvictionReserveSettings {
  evictionHard: Readonly<Record<string, string>>;
  /** --experimental-allocatable-ignore-eviction */
  allocatableIgnoresEviction: boolean;
}

/** Hard eviction thresholds that are set aside. Validation has refused what can't be read. */
export function evictionSetAside({
  evictionHard,
  allocatableIgnoresEviction,
}: EvictionReserveSettings): EvictionThresholds["thresholds"] {
  return allocatableIgnoresEviction ? [] : parseEviction({ evictionHard }).thresholds;
}

/** A list of CPUs takes the place of both amounts. Validation has refused what can't be read. */
export function reservedOf({ kubeReserved, systemReserved, reservedSystemCPUs }: ReservedSettings): Reserved {
  const kube = parseReserved("kubeReserved", kubeReserved).resources;
  const system = parseReserved("systemReserved", systemReserved).resources;
  const cpus = parseCpuList(reservedSystemCPUs) ?? [];
  if (cpus.length === 0) return { kube, system };
  const listed: ExactQuantity = { nanos: BigInt(cpus.length) * 1_000_000_000n, format: "DecimalSI" };
  return { kube: { ...kube, cpu: ZERO }, system: { ...system, cpu: listed } };
}

/** @throws OperatorError when one resource has more set aside than there is, hard eviction thresholds included. */
export function checkReserved(
  capacity: NodeResources,
  reserved: Reserved,
  evictionReserve: (name: string, capacityNanos: bigint) => bigint,
): void {
  const problems: string[] = [];
  for (const [name, { nanos, format }] of capacity) {
    const aside = reservedNanos(reserved, name) + evictionReserve(name, nanos);
    if (aside <= nanos) continue;
    const show = (amount: bigint): string => printQuantity({ nanos: amount, format });
    problems.push(
      `resource ${JSON.stringify(name)} has a reservation of ${show(aside)} but capacity of ${show(nanos)}. ` +
        `Expected capacity >= reservation.`,
    );
  }
  if (problems.length > 0)
    throw new OperatorError(
      `invalid Node Allocatable configuration. ${problems.join(" ")} ` +
        `Lower kubeReserved, systemReserved or evictionHard of these resources.`,
    );
}

export function reservedNanos({ kube, system }: Reserved, name: string): bigint {
  const amount = (part: ReservedResources): bigint =>
    (part as Partial<Record<string, ExactQuantity>>)[name]?.nanos ?? 0n;
  return amount(kube) + amount(system);
}
