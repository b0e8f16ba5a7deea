// Examples for cgroups, reserved resources, memory and topology.

import type { Claims, Refused, Situation } from "../example.js";

const V1 = { cgroupVersion: 1 } as const;
const V2 = { cgroupVersion: 2 } as const;
const ENFORCE = "enforceNodeAllocatable";
const CPUS = "reservedSystemCPUs";
const IDS = "userNamespaces.idsPerPod";
const SWAP = "memorySwap.swapBehavior";
const OPTIONS = "cpuManagerPolicyOptions";
const TOPOLOGY = "topologyManagerPolicyOptions";
const bothCgroups = { systemReservedCgroup: "/system", kubeReservedCgroup: "/kube" };

const enforce = (...entries: string[]): Situation => ({ [ENFORCE]: entries, ...bothCgroups });
const period = (ms: number, on = true): Situation => ({
  cpuCFSQuotaPeriod: ms,
  gates: { CustomCPUCFSQuotaPeriod: on },
});
const reserve = (...limits: Record<string, string>[]): Situation => ({
  reservedMemory: limits.map((each) => ({ numaNode: 0, limits: each })),
});
const staticCpu = (options: Record<string, string>): Situation => ({
  cpuManagerPolicy: "static",
  [CPUS]: "0",
  [OPTIONS]: options,
});
const badAmount = (text: string, says: string): Refused => [{ kubeReserved: { cpu: text } }, "kubeReserved[cpu]", says];

export const RESOURCES: Claims = {
  "systemCgroups, cgroupRoot | systemCgroups set while cgroupRoot empty": {
    bad: [
      [{ systemCgroups: "/system" }, "systemCgroups", "requires cgroupRoot"],
      [{ systemCgroups: "/system", cgroupRoot: "" }, "systemCgroups", "requires cgroupRoot"],
    ],
    good: [{ systemCgroups: "/system", cgroupRoot: "/" }, { cgroupRoot: "" }],
  },
  "cpuCFSQuotaPeriod | gate off and value differs from 100ms": {
    bad: [[period(99, false), "cpuCFSQuotaPeriod", "99ms is not 100ms"]],
    good: [period(100, false)],
  },
  "cpuCFSQuotaPeriod | gate on and value outside range": {
    bad: [
      [period(0.5), "cpuCFSQuotaPeriod", "is not a duration from 1ms to 1s"],
      [period(1001), "cpuCFSQuotaPeriod", "is not a duration from 1ms to 1s"],
    ],
    good: [period(1), period(1000)],
  },
  "topologyManagerPolicy | not a known value": {
    bad: [[{ topologyManagerPolicy: "best" }, "topologyManagerPolicy", '"best" is not none, best-effort,']],
    good: ["none", "best-effort", "restricted", "single-numa-node"].map((topologyManagerPolicy) => ({
      topologyManagerPolicy,
    })),
  },
  "topologyManagerScope | not a known value": {
    bad: [[{ topologyManagerScope: "node" }, "topologyManagerScope", '"node" is not container or pod']],
    good: [{ topologyManagerScope: "container" }, { topologyManagerScope: "pod" }],
  },
  "memorySwap.swapBehavior | not a known value": {
    bad: [[{ [SWAP]: "UnlimitedSwap" }, SWAP, '"UnlimitedSwap" is not "", NoSwap or LimitedSwap']],
    good: ["", "NoSwap", "LimitedSwap"].map((value) => ({ [SWAP]: value })),
  },
  "memorySwap | any content while gate off": {
    bad: [[{ [SWAP]: "NoSwap", gates: { NodeSwap: false } }, SWAP, "gate NodeSwap"]],
    good: [{ gates: { NodeSwap: false } }],
  },
  "enforceNodeAllocatable | both system-reserved and system-reserved-compressible listed": {
    bad: [[enforce("system-reserved", "system-reserved-compressible"), ENFORCE, "keep one"]],
    good: [enforce("system-reserved", "kube-reserved-compressible")],
  },
  "enforceNodeAllocatable | both kube-reserved and kube-reserved-compressible listed": {
    bad: [[enforce("kube-reserved-compressible", "kube-reserved"), ENFORCE, "keep one"]],
    good: [enforce("kube-reserved", "system-reserved-compressible")],
  },
  "enforceNodeAllocatable | an entry occurs twice": {
    bad: [[enforce("pods", "pods"), ENFORCE, "lists pods 2 times"]],
    good: [enforce("pods")],
  },
  "enforceNodeAllocatable, systemReservedCgroup | system-reserved or system-reserved-compressible listed while the cgroup is empty":
    {
      bad: ["system-reserved", "system-reserved-compressible"].map((name) => [
        { ...enforce(name), systemReservedCgroup: "" },
        ENFORCE,
        `${name} requires systemReservedCgroup`,
      ]),
      good: [{ [ENFORCE]: ["system-reserved"], systemReservedCgroup: "/system" }],
    },
  "enforceNodeAllocatable, kubeReservedCgroup | kube-reserved or kube-reserved-compressible listed while the cgroup is empty":
    {
      bad: ["kube-reserved", "kube-reserved-compressible"].map((name) => [
        { ...enforce(name), kubeReservedCgroup: "" },
        ENFORCE,
        `${name} requires kubeReservedCgroup`,
      ]),
      good: [{ [ENFORCE]: ["kube-reserved"], kubeReservedCgroup: "/kube" }],
    },
  "enforceNodeAllocatable | none listed together with anything else": {
    bad: [[enforce("none", "pods"), ENFORCE, "none cannot be combined"]],
    good: [enforce("none"), enforce()],
  },
  "enforceNodeAllocatable | unknown entry": {
    bad: [[enforce("pods", "system"), ENFORCE, '"system" is not none, pods,']],
    good: [enforce("pods")],
  },
  "enforceNodeAllocatable, cgroupsPerQOS | any known entry but none, while cgroupsPerQOS false": {
    bad: [
      [{ cgroupsPerQOS: false }, ENFORCE, "pods requires cgroupsPerQOS: true"],
      [{ ...enforce("kube-reserved"), cgroupsPerQOS: false }, ENFORCE, "kube-reserved requires cgroupsPerQOS"],
    ],
    good: [
      { ...enforce("none"), cgroupsPerQOS: false },
      { ...enforce(), cgroupsPerQOS: false },
    ],
  },
  "reservedSystemCPUs, systemReservedCgroup, kubeReservedCgroup | cpu list set together with either cgroup": {
    bad: [
      [{ [CPUS]: "0", systemReservedCgroup: "/system" }, CPUS, "combined with systemReservedCgroup"],
      [{ [CPUS]: "0", kubeReservedCgroup: "/kube" }, CPUS, "combined with kubeReservedCgroup"],
    ],
    good: [{ [CPUS]: "0" }, bothCgroups],
  },
  "reservedSystemCPUs | not a cpu list (numbers and a-b ranges, comma separated)": {
    bad: ["0-", "3-1", "a", "0,,1", "0 ,1", "-1", "0-4294967295", "1.5"].map((text) => [
      { [CPUS]: text },
      CPUS,
      `"${text}" is not a list of CPUs`,
    ]),
    good: ["0", "0-3,7", "7,0-3"].map((text) => ({ [CPUS]: text })),
  },
  "reservedSystemCPUs | not a subset of online CPUs": {
    bad: [[{ [CPUS]: "0-4", host: { onlineCpus: [0, 1, 3] } }, CPUS, "CPU 2,4 is not online; this machine has 0-1,3"]],
    good: [{ [CPUS]: "0,3", host: { onlineCpus: [0, 1, 3] } }, { [CPUS]: "0-400" }],
  },
  "reservedMemory[].limits | resource other than memory or hugepages-SIZE": {
    bad: [
      [reserve({ cpu: "1" }), "reservedMemory[0].limits[cpu]", '"cpu" is not memory or hugepages-SIZE'],
      [reserve({ "hugepages-0": "1Gi" }), "reservedMemory[0].limits[hugepages-0]", "hugepages-2Mi"],
      [reserve({ "hugepages-big": "1Gi" }), "reservedMemory[0].limits[hugepages-big]", "hugepages-2Mi"],
      [reserve({ "hugepages-": "1Gi" }), "reservedMemory[0].limits[hugepages-]", "hugepages-2Mi"],
    ],
    good: [reserve({ memory: "1Gi", "hugepages-2Mi": "64Mi" })],
  },
  "reservedMemory[].limits | zero quantity": {
    bad: [
      [reserve({ memory: "0" }), "reservedMemory[0].limits[memory]", '"0" is not a quantity above 0'],
      [reserve({ memory: "much" }), "reservedMemory[0].limits[memory]", '"much" is not a quantity'],
    ],
    good: [reserve({ memory: "1" })],
  },
  "reservedMemory[] | same NUMA node and resource twice": {
    bad: [[reserve({ memory: "1Gi" }, { memory: "2Gi" }), "reservedMemory[1].limits[memory]", "reserved twice"]],
    good: [
      reserve({ memory: "1Gi" }, { "hugepages-1Gi": "1Gi" }),
      {
        reservedMemory: [
          { numaNode: 0, limits: { memory: "1Gi" } },
          { numaNode: 1, limits: { memory: "1Gi" } },
        ],
      },
    ],
  },
  "failCgroupV1 | true on a host without unified cgroup v2": {
    bad: [[{ failCgroupV1: true, host: V1 }, "failCgroupV1", "this machine runs cgroup v1"]],
    good: [{ failCgroupV1: false, host: V1 }, { failCgroupV1: true, host: V2 }, { failCgroupV1: true }],
  },
  "singleProcessOOMKill | explicit false on a cgroup v1 host": {
    bad: [[{ singleProcessOOMKill: false, failCgroupV1: false, host: V1 }, "singleProcessOOMKill", "cgroup v1"]],
    good: [
      { singleProcessOOMKill: true, failCgroupV1: false, host: V1 },
      { failCgroupV1: false, host: V1 },
      { singleProcessOOMKill: false, host: V2 },
    ],
  },
  "userNamespaces.idsPerPod | below 65536": {
    bad: [[{ [IDS]: 0 }, IDS, "0 is not a number from 65536 to 4294967295"]],
    good: [{ [IDS]: 65_536 }],
  },
  "userNamespaces.idsPerPod | not a multiple of 65536": {
    bad: [[{ [IDS]: 65_537 }, IDS, "65537 is not a multiple of 65536"]],
    good: [{ [IDS]: 131_072 }],
  },
  "userNamespaces.idsPerPod | above 4294967295": {
    bad: [[{ [IDS]: 4_294_967_296 }, IDS, "4294967296 is not a number from"]],
    good: [{ [IDS]: 4_294_901_760 }],
  },
  "singleProcessOOMKill | set on a non-Linux system": "the agent runs on Linux only",
  "userNamespaces | set on a non-Linux system": "the agent runs on Linux only",
  "cgroupsPerQOS, enforceNodeAllocatable | set on Windows: warning only, ignored": "the agent runs on Linux only",
  "memoryThrottlingFactor | nil": {
    bad: [[{ memoryThrottlingFactor: undefined, gates: { MemoryQoS: true } }, "memoryThrottlingFactor", "is empty"]],
    good: [{ memoryThrottlingFactor: undefined }, { gates: { MemoryQoS: true } }],
  },
  "memoryThrottlingFactor | <= 0 or > 1": {
    bad: [0, -0.1, 1.01, NaN].map((value) => [
      { memoryThrottlingFactor: value },
      "memoryThrottlingFactor",
      `${value} is not a number above 0 and up to 1`,
    ]),
    good: [{ memoryThrottlingFactor: 0.01 }, { memoryThrottlingFactor: 1 }],
  },
  "memoryReservationPolicy | TieredReservation while gate off": {
    bad: [[{ memoryReservationPolicy: "TieredReservation" }, "memoryReservationPolicy", "gate MemoryQoS"]],
    good: [{ memoryReservationPolicy: "TieredReservation", gates: { MemoryQoS: true } }],
  },
  "memoryReservationPolicy | not a known value": {
    bad: [[{ memoryReservationPolicy: "Some" }, "memoryReservationPolicy", "is not None or TieredReservation"]],
    good: [{ memoryReservationPolicy: "None" }],
  },
  "kubeReserved, systemReserved | resource other than cpu, memory, ephemeral-storage, pid; bad quantity; negative": {
    bad: [
      [{ kubeReserved: { gpu: "1" } }, "kubeReserved[gpu]", '"gpu" is not cpu, memory, ephemeral-storage or pid'],
      [{ systemReserved: { "hugepages-2Mi": "1" } }, "systemReserved[hugepages-2Mi]", "is not cpu, memory"],
      badAmount("lots", '"lots" is not a quantity'),
      badAmount("", '"" is not a quantity'),
      badAmount("-1", '"-1" is not a quantity of 0 or more'),
    ],
    good: [
      { kubeReserved: { cpu: "500m", memory: "1Gi", "ephemeral-storage": "0", pid: "100" } },
      { systemReserved: { cpu: "1" } },
    ],
  },
  "topologyManagerPolicyOptions | non-nil while gate off": {
    bad: [
      [
        { [TOPOLOGY]: {}, gates: { TopologyManagerPolicyOptions: false } },
        TOPOLOGY,
        "gate TopologyManagerPolicyOptions",
      ],
      [{ [TOPOLOGY]: { "prefer-closest": "true" } }, `${TOPOLOGY}[prefer-closest]`, "is not a known option"],
      [{ [TOPOLOGY]: { "max-allowable-numa-nodes": "7" } }, `${TOPOLOGY}[max-allowable-numa-nodes]`, "at least 8"],
      [
        { [TOPOLOGY]: { "prefer-closest-numa-nodes": "yes" } },
        `${TOPOLOGY}[prefer-closest-numa-nodes]`,
        "true or false",
      ],
    ],
    good: [
      { gates: { TopologyManagerPolicyOptions: false } },
      { [TOPOLOGY]: { "max-allowable-numa-nodes": "8", "prefer-closest-numa-nodes": "true" } },
      { [TOPOLOGY]: { "max-allowable-numa-nodes": "9223372036854775807" } },
    ],
  },
  "memorySwap.swapBehavior | LimitedSwap on cgroup v1": {
    bad: [[{ [SWAP]: "LimitedSwap", failCgroupV1: false, host: V1 }, SWAP, "LimitedSwap requires cgroup v2"]],
    good: [
      { [SWAP]: "LimitedSwap", host: V2 },
      { [SWAP]: "NoSwap", failCgroupV1: false, host: V1 },
    ],
  },
  "cpuManagerPolicyOptions | unknown option, or option whose stage gate is off": {
    bad: [
      [staticCpu({ "full-pcpu-only": "true" }), `${OPTIONS}[full-pcpu-only]`, "did you mean full-pcpus-only?"],
      [staticCpu({ "align-by-socket": "true" }), `${OPTIONS}[align-by-socket]`, "gate CPUManagerPolicyAlphaOptions"],
      [
        staticCpu({ "distribute-cpus-across-cores": "true" }),
        `${OPTIONS}[distribute-cpus-across-cores]`,
        "gate CPUManagerPolicyAlphaOptions",
      ],
      [
        { ...staticCpu({ "distribute-cpus-across-numa": "true" }), gates: { CPUManagerPolicyBetaOptions: false } },
        `${OPTIONS}[distribute-cpus-across-numa]`,
        "gate CPUManagerPolicyBetaOptions",
      ],
    ],
    good: [
      staticCpu({ "full-pcpus-only": "true", "strict-cpu-reservation": "1", "prefer-align-cpus-by-uncorecache": "f" }),
      staticCpu({ "distribute-cpus-across-numa": "true" }),
      { ...staticCpu({ "align-by-socket": "true" }), gates: { CPUManagerPolicyAlphaOptions: true } },
    ],
  },
};
