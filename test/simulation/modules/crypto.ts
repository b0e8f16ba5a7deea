// node:crypto with the kernel's random numbers.

import { randomUuid } from "../kernel/globals.js";
import { kernel } from "../kernel/kernel.js";

export * from "node:crypto";

export function randomBytes(size: number): Buffer {
  return kernel.random.bytes(size);
}
export function randomInt(least: number, end?: number): number {
  return end === undefined ? kernel.random.below(least) : least + kernel.random.below(end - least);
}
export const randomUUID = randomUuid;
