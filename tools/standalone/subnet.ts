// Each private containerd needs a pod subnet that collides with no route of its namespace, also beside other instances.

import { runInNetns } from "./netns.js";
import { SetupProblem } from "./problem.js";

/** 10.64.0.0/10 in blocks of 4096 addresses. */
const BASE = (10 << 24) | (64 << 16);
const BLOCK_BITS = 20;
const BLOCKS = 1 << (BLOCK_BITS - 10);
const BLOCK_SIZE = 1 << (32 - BLOCK_BITS);

/** A free /20, looked for from a place that depends on `seed`. */
export async function chooseSubnet(netns: string | undefined, seed: number): Promise<string> {
  const text = await runInNetns(netns, "ip", ["-json", "-4", "route", "show", "table", "all"]);
  const routes = JSON.parse(text === "" ? "[]" : text) as readonly { dst?: string }[];
  const taken = routes.map(({ dst }) => dst).filter((dst) => dst !== undefined && dst !== "default");
  const subnet = pickSubnet(taken as string[], seed);
  if (subnet === undefined) throw new SetupProblem("no free pod subnet in 10.64.0.0/10: routes cover all of it");
  return subnet;
}

/** The first block from `seed` on that overlaps none of `taken` (`10.0.0.0/8`, or an address alone). */
export function pickSubnet(taken: readonly string[], seed: number): string | undefined {
  const ranges = taken.map(rangeOf);
  for (let tries = 0; tries < BLOCKS; tries++) {
    const first = BASE + ((seed + tries) % BLOCKS) * BLOCK_SIZE;
    const last = first + BLOCK_SIZE - 1;
    if (ranges.every((range) => range.last < first || range.first > last)) return `${dotted(first)}/${BLOCK_BITS}`;
  }
  return undefined;
}

function rangeOf(cidr: string): { first: number; last: number } {
  const [address = "", bits = "32"] = cidr.split("/");
  const value = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  const first = value - (value % size);
  return { first, last: first + size - 1 };
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}
