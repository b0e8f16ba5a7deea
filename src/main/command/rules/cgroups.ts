// The cgroup tree, node allocatable and swap, and the limits of the kernel's cgroup version.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import type { ConfigView, HostFacts } from "./rule.js";

const DEFAULT_PERIOD_MS = 100;

export function* cgroups(config: ConfigView, host: HostFacts): Iterable<Violation> {
  const systemCgroups = config.get("systemCgroups") ?? "";
  // A derived root does not count: systemCgroups must be relative to a configured cgroupRoot.
  const root = config.isSet("cgroupRoot") ? (config.get("cgroupRoot") ?? "") : "";
  if (systemCgroups !== "" && root === "") {
    yield {
      path: "systemCgroups",
      message: `${quoteStart(systemCgroups)} requires cgroupRoot; set it, for example to "/"`,
    };
  }
  yield* quotaPeriod(config);
  if (host.cgroupVersion !== 1) return;
  if (config.get("failCgroupV1") === true) {
    yield {
      path: "failCgroupV1",
      message: "is true and this machine runs cgroup v1; boot with cgroup v2 or set failCgroupV1: false",
    };
  }
  if (config.get("singleProcessOOMKill") === false) {
    yield {
      path: "singleProcessOOMKill",
      message:
        "false is not supported on cgroup v1, which cannot kill a whole cgroup; remove it or boot with cgroup v2",
    };
  }
}

function* quotaPeriod(config: ConfigView): Iterable<Violation> {
  const path = "cpuCFSQuotaPeriod";
  const period = config.get(path);
  if (period === undefined) return;
  if (!config.gate("CustomCPUCFSQuotaPeriod")) {
    if (period === DEFAULT_PERIOD_MS) return;
    yield {
      path,
      message: `${formatDuration(period)} is not 100ms; other values require the feature gate CustomCPUCFSQuotaPeriod, which is off`,
    };
  } else if (period < 1 || period > 1000) {
    yield { path, message: `${formatDuration(period)} is not a duration from 1ms to 1s` };
  }
}
