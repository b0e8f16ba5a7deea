// The check of free pod addresses, for CNI networks whose addresses come from host-local. Pure.

import type { AddressRange } from "../machine/address-ranges.js";
import { bad, ok, type Result } from "./check.js";

const CHECK = "pod addresses";
const FEW = 10;

export interface PodRange extends AddressRange {
  taken: number;
}

/** @param leases the folder in which host-local keeps an address per file */
export function podAddresses({ subnet, size, taken }: PodRange, leases: string, file: string): Result {
  const free = size - BigInt(taken);
  const found = `${free < 0n ? 0n : free} of ${size} in ${subnet} are free`;
  const why = `without one, a pod stays in ContainerCreating; the addresses that are taken are files of ${leases}`;
  const fix = `remove the files of pods that are gone (crictl pods -q lists those that are there), or give ${file} a larger subnet`;
  if (free <= 0n) return bad("error", CHECK, found, why, fix);
  // A small range that is nearly empty is as its owner wants it.
  if (free < FEW && free * 4n < size) return bad("warning", CHECK, found, why, fix);
  return ok(CHECK, found);
}
