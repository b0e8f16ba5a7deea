import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readMachineFacts } from "../../../../src/shared/node/stats/machine.js";
import { KernelTree } from "./tree.js";

const MC = "/sys/devices/system/edac/mc";
const module = (path: string, type: string, size: string): Record<string, string> => ({
  [`${MC}/${path}/dimm_mem_type`]: `${type}\n`,
  [`${MC}/${path}/size`]: `${size}\n`,
});

test("memory modules are counted by type over all memory controllers", () => {
  const tree = new KernelTree({
    ...module("mc0/dimm0", "Registered-DDR4", "16384"),
    ...module("mc0/dimm3", "Registered-DDR4", "16384"),
    ...module("mc1/dimm0", "Non-volatile-RAM", "1024"),
    // Neither controllers nor modules.
    ...module("mc0/csrow0", "Registered-DDR4", "16384"),
    ...module("power/dimm0", "Registered-DDR4", "16384"),
  });
  deepEqual(readMachineFacts(tree.read, tree.list).memoryModules, [
    { type: "Registered-DDR4", count: 2, capacity: 2 ** 35 },
    { type: "Non-volatile-RAM", count: 1, capacity: 2 ** 30 },
  ]);
});

test("a module whose size cannot be read does not count; a machine without controllers has none", () => {
  const broken = new KernelTree({
    ...module("mc0/dimm0", "DDR5", "none"),
    [`${MC}/mc0/dimm1/size`]: "1024\n",
    ...module("mc0/dimm2", "DDR5", "8"),
  });
  deepEqual(readMachineFacts(broken.read, broken.list).memoryModules, [{ type: "DDR5", count: 1, capacity: 2 ** 23 }]);
  const empty = new KernelTree({});
  deepEqual(readMachineFacts(empty.read, empty.list).memoryModules, []);
});
