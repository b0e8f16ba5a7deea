// The files that are generated from the contract.

import type { Contract } from "./contract.js";
import { laterFactsFile } from "./write/later-facts.js";
import { manifestFile } from "./write/manifest-fields.js";
import { typeFiles } from "./write/types.js";
import { wireFiles } from "./write/wire.js";

/** Text by path, relative to the root of the repository. */
export function generate(contract: Contract): Map<string, string> {
  return new Map([
    ...typeFiles(contract),
    ...manifestFile(contract),
    ...laterFactsFile(contract),
    ...wireFiles(contract),
  ]);
}
