// Rules of reserved resources: amounts, CPUs, memory of NUMA nodes.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { parseCpuList, printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import type { Violation } from "../violation.js";
import { parseWholePercentage } from "./parse-percentage.js";
import { parseReserved, readQuantity } from "./parse-reserved.js";
import type { ConfigView, HostFacts } from "./rule.js";

export function* reservedResources(config: ConfigView, host: HostFacts): Iterable<Violation> {
  for (const path of ["kubeReserved", "systemReserved"] as const) {
    yield* parseReserved(path, config.get(path) ?? {}).violations;
  }
  yield* reservedCpus(config, host);
  yield* reservedMemory(config);
  yield* qosReserved(config);
}

function* reservedCpus(config: ConfigView, host: HostFacts): Iterable<Violation> {
  const path = "reservedSystemCPUs";
  const text = config.get(path) ?? "";
  if (text === "") return;
  for (const cgroup of ["systemReservedCgroup", "kubeReservedCgroup"] as const) {
    if ((config.get(cgroup) ?? "") !== "") {
      yield { path, message: `cannot be combined with ${cgroup}; remove one of them` };
    }
  }
  const cpus = parseCpuList(text);
  if (cpus === undefined) {
    yield { path, message: `${quoteStart(text)} is not a list of CPUs such as 0-3,7` };
  } else if (host.onlineCpus !== undefined) {
    const online = new Set(host.onlineCpus);
    const missing = cpus.filter((cpu) => !online.has(cpu));
    if (missing.length > 0) {
      const here = printCpuList(online);
      yield { path, message: `CPU ${printCpuList(missing)} is not online; this machine has ${here}` };
    }
  }
}

function* reservedMemory(config: ConfigView): Iterable<Violation> {
  const seen = new Set<string>();
  for (const [index, { numaNode, limits }] of (config.get("reservedMemory") ?? []).entries()) {
    const path = `reservedMemory[${index}]`;
    if (numaNode < 0)
      yield { path: `${path}.numaNode`, message: `${numaNode} is not a NUMA node; NUMA nodes start at 0` };
    for (const [resource, text] of Object.entries(limits)) {
      const at = `${path}.limits[${resource}]`;
      const quantity = readQuantity(text);
      if (resource !== "memory" && !isHugePages(resource)) {
        yield { path: at, message: `${quoteStart(resource)} is not memory or hugepages-SIZE, such as hugepages-2Mi` };
      }
      if (quantity === undefined) yield { path: at, message: `${quoteStart(text)} is not a quantity such as 1Gi` };
      else if (quantity.nanos <= 0n) yield { path: at, message: `${quoteStart(text)} is not a quantity above 0` };
      const key = `${numaNode} ${resource}`;
      if (seen.has(key)) {
        yield { path: at, message: `${resource} of NUMA node ${numaNode} is reserved twice; merge the entries` };
      }
      seen.add(key);
    }
  }
}

function isHugePages(resource: string): boolean {
  const size = /^hugepages-(.+)$/.exec(resource)?.[1];
  return size !== undefined && (readQuantity(size)?.nanos ?? 0n) > 0n;
}

function* qosReserved(config: ConfigView): Iterable<Violation> {
  for (const [resource, text] of Object.entries(config.get("qosReserved") ?? {})) {
    const path = `qosReserved[${resource}]`;
    if (resource !== "memory")
      yield { path, message: `${quoteStart(resource)} is not memory, the only resource that can be reserved` };
    else if (parseWholePercentage(text) === undefined) {
      yield { path, message: `${quoteStart(text)} is not a whole percentage from 0% to 100%` };
    }
  }
}
