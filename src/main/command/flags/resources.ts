// Flags of the machine's resources: who gets them, what is kept back, what happens when they run short.
import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const RESOURCES: Flags = {
  "cgroup-driver": mirror("string", "cgroupfs", "cgroupDriver", "cgroupfs or systemd; what the runtime says wins"),
  "cgroup-root": mirror("string", "", "cgroupRoot", "cgroup that holds the pods' cgroups; empty: the hierarchy's root"),
  "cgroups-per-qos": mirror("bool", "true", "cgroupsPerQOS", "make a tree of cgroups by QoS class and pod"),
  "kubelet-cgroups": mirror("string", "", "kubeletCgroups", "cgroup the agent moves into"),
  "runtime-cgroups": flag("string", "", "cgroup of the container runtime"),
  "system-cgroups": mirror(
    "string",
    "",
    "systemCgroups",
    "cgroup for other processes of the root cgroup; needs --cgroup-root",
  ),
  "enforce-node-allocatable": mirror(
    "strings",
    "pods",
    "enforceNodeAllocatable",
    "what is held to its limits: none, pods, system-reserved, kube-reserved and their -compressible forms",
  ),
  "kube-reserved": mirror(
    "stringMap",
    "",
    "kubeReserved",
    "kept back for Kubernetes: cpu, memory, ephemeral-storage, pid, as in cpu=200m,memory=500Mi",
  ),
  "kube-reserved-cgroup": mirror("string", "", "kubeReservedCgroup", "cgroup that --kube-reserved is enforced on"),
  "system-reserved": mirror(
    "stringMap",
    "",
    "systemReserved",
    "kept back for the rest of the system: cpu, memory, ephemeral-storage, pid",
  ),
  "system-reserved-cgroup": mirror(
    "string",
    "",
    "systemReservedCgroup",
    "cgroup that --system-reserved is enforced on",
  ),
  "reserved-cpus": mirror("string", "", "reservedSystemCPUs", "CPUs kept back, such as 0-1,4; instead of an amount"),
  "reserved-memory": mirror(
    "reservedMemory",
    "",
    "reservedMemory",
    "memory kept back per NUMA node, such as 0:memory=1Gi,hugepages-2Mi=64Mi; repeat for more",
  ),
  "qos-reserved": mirror("stringMap", "", "qosReserved", "kept for guaranteed pods, such as memory=50%"),
  "cpu-cfs-quota": mirror("bool", "true", "cpuCFSQuota", "enforce CPU limits by CFS quota"),
  "cpu-cfs-quota-period": mirror("duration", "100ms", "cpuCFSQuotaPeriod", "period of the CFS quota, 1ms to 1s"),
  "cpu-manager-policy": mirror("string", "none", "cpuManagerPolicy", "none or static"),
  "cpu-manager-policy-options": mirror(
    "onePair",
    "",
    "cpuManagerPolicyOptions",
    "option of the CPU manager's policy, key=value; repeat for more",
  ),
  "cpu-manager-reconcile-period": mirror(
    "duration",
    "10s",
    "cpuManagerReconcilePeriod",
    "time between two repairs of the CPU sets",
  ),
  "memory-manager-policy": mirror("string", "None", "memoryManagerPolicy", "None or Static"),
  "topology-manager-policy": mirror(
    "string",
    "none",
    "topologyManagerPolicy",
    "none, best-effort, restricted or single-numa-node",
  ),
  "topology-manager-policy-options": mirror(
    "stringMap",
    "",
    "topologyManagerPolicyOptions",
    "options of the topology manager's policy: key=value,…",
  ),
  "topology-manager-scope": mirror("string", "container", "topologyManagerScope", "container or pod"),
  "pod-max-pids": mirror("int64", "-1", "podPidsLimit", "most processes per pod; -1: no limit of its own"),
  "allowed-unsafe-sysctls": mirror(
    "strings",
    "",
    "allowedUnsafeSysctls",
    "unsafe sysctls that pods may set, by name or by pattern such as net.*",
  ),
  "protect-kernel-defaults": mirror(
    "bool",
    "false",
    "protectKernelDefaults",
    "fail when sysctls differ from what the agent needs, instead of setting them",
  ),
  "fail-swap-on": mirror("bool", "true", "failSwapOn", "refuse to start while swap is on"),
  "fail-cgroupv1": equalOf("bool", "true", "failCgroupV1", "refuse to start on a host with cgroup v1"),
};

export const EVICTION: Flags = {
  "eviction-hard": mirror(
    "thresholds",
    "",
    "evictionHard",
    "thresholds at which pods are evicted at once, such as memory.available<100Mi,nodefs.available<10%",
  ),
  "eviction-soft": mirror(
    "thresholds",
    "",
    "evictionSoft",
    "thresholds at which pods are evicted after --eviction-soft-grace-period",
  ),
  "eviction-soft-grace-period": mirror(
    "stringMap",
    "",
    "evictionSoftGracePeriod",
    "how long a soft threshold may be crossed, such as memory.available=1m30s",
  ),
  "eviction-max-pod-grace-period": mirror(
    "int32",
    "0",
    "evictionMaxPodGracePeriod",
    "seconds at most that a pod gets to end in a soft eviction; negative: its own",
  ),
  "eviction-minimum-reclaim": mirror(
    "stringMap",
    "",
    "evictionMinimumReclaim",
    "how much at least is freed, such as nodefs.available=500Mi",
  ),
  "eviction-pressure-transition-period": mirror(
    "duration",
    "5m0s",
    "evictionPressureTransitionPeriod",
    "how long a pressure condition is held after its cause has gone",
  ),
  "kernel-memcg-notification": mirror(
    "bool",
    "false",
    "kernelMemcgNotification",
    "have the kernel tell when a memory threshold is crossed",
  ),
  "experimental-allocatable-ignore-eviction": flag(
    "bool",
    "false",
    "leave hard eviction thresholds out of what the node can allocate",
    { deprecated: "leave it out: the thresholds are counted, as upstream will do without a choice" },
  ),
  "maximum-dead-containers": flag("int32", "-1", "dead containers kept on the node; negative: no limit", {
    deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
  }),
  "maximum-dead-containers-per-container": flag("int32", "1", "dead instances kept per container", {
    deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
  }),
  "minimum-container-ttl-duration": flag("duration", "0s", "a dead container is kept this long", {
    deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
  }),
};
