// The machine below the node, as the kernel and the distribution name it.

import { goPlatform } from "../../../shared/base/text/go-platform.js";
import type { HostFacts } from "../../../shared/contracts/status-page.js";
import type { ListDirectories, ReadText } from "../../../shared/node/stats/kernel-file.js";
import { readMachineFacts } from "../../../shared/node/stats/machine.js";

export function hostFacts(read: ReadText, list: ListDirectories): HostFacts {
  const { osVersion, kernelVersion, bootedAt, swap } = readMachineFacts(read, list);
  return {
    osImage: osVersion === "" ? "Unknown" : osVersion,
    kernel: kernelVersion,
    platform: goPlatform(),
    bootedAt,
    load: (read("/proc/loadavg") ?? "").split(" ").slice(0, 3).map(Number).filter(Number.isFinite),
    swap,
  };
}
