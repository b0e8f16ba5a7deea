// node:dns/promises of the simulated machine: names that are not known.

import { kernel } from "../kernel/kernel.js";

function unknown(name: string): Promise<never> {
  const owner = kernel.current;
  return new Promise((_resolve, reject) => {
    kernel.post(owner, () => reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" })));
  });
}

export const lookup = unknown;

export class Resolver {
  resolve4 = unknown;
  resolve6 = unknown;
  resolvePtr = unknown;
  reverse = unknown;
  setServers(): void {
    // There are none.
  }
  cancel(): void {
    // Nothing is under way.
  }
}
