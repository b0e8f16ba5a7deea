// Flags for the machine's resources: resource managers, reserved amounts, and eviction.

import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const RESOURCES: Flags = {
  "cgroup-driver": mirror("cgroupDriver", "cgroup driver: cgroupfs or systemd; the runtime's driver takes precedence"),
  "cgroup-root": mirror("cgroupRoot", "root cgroup for pods; empty: the root of the hierarchy"),
  "cgroups-per-qos": mirror("cgroupsPerQOS", "create the cgroup hierarchy by QoS class and pod"),
  "kubelet-cgroups": mirror("kubeletCgroups", "cgroup to create for the kubelet and run it in"),
  "runtime-cgroups": flag("string", "", "cgroup in which the container runtime runs"),
  "system-cgroups": mirror(
    "systemCgroups",
    "cgroup for non-kernel processes of the root cgroup; requires --cgroup-root",
  ),
  "enforce-node-allocatable": mirror(
    "enforceNodeAllocatable",
    "levels of node allocatable enforcement: none, pods, system-reserved, kube-reserved and their -compressible forms",
  ),
  "kube-reserved": mirror(
    "kubeReserved",
    "resources reserved for Kubernetes components: cpu, memory, ephemeral-storage, pid; for example cpu=200m,memory=500Mi",
  ),
  "kube-reserved-cgroup": mirror("kubeReservedCgroup", "cgroup on which --kube-reserved is enforced"),
  "system-reserved": mirror(
    "systemReserved",
    "resources reserved for other system processes: cpu, memory, ephemeral-storage, pid",
  ),
  "system-reserved-cgroup": mirror("systemReservedCgroup", "cgroup on which --system-reserved is enforced"),
  "reserved-cpus": mirror(
    "reservedSystemCPUs",
    "CPUs reserved for system and Kubernetes, for example 0-1,4; replaces the reserved amounts of CPU",
  ),
  "reserved-memory": mirror(
    "reservedMemory",
    "memory reserved per NUMA node, for example 0:memory=1Gi,hugepages-2Mi=64Mi; can be repeated",
  ),
  "qos-reserved": mirror(
    "qosReserved",
    "part of the Guaranteed pods' requests that lower QoS classes cannot use, for example memory=50%",
  ),
  "cpu-cfs-quota": mirror("cpuCFSQuota", "enforce CFS quota for containers with CPU limits"),
  "cpu-cfs-quota-period": mirror("cpuCFSQuotaPeriod", "CFS quota period, 1ms to 1s"),
  "cpu-manager-policy": mirror("cpuManagerPolicy", "none or static"),
  "cpu-manager-policy-options": mirror(
    "cpuManagerPolicyOptions",
    "option of the CPU manager policy: key=value; can be repeated",
    { kind: "onePair" },
  ),
  "cpu-manager-reconcile-period": mirror("cpuManagerReconcilePeriod", "reconciliation period of the CPU manager"),
  "memory-manager-policy": mirror("memoryManagerPolicy", "None or Static"),
  "topology-manager-policy": mirror("topologyManagerPolicy", "none, best-effort, restricted or single-numa-node"),
  "topology-manager-policy-options": mirror(
    "topologyManagerPolicyOptions",
    "options of the topology manager policy: key=value,…",
  ),
  "topology-manager-scope": mirror("topologyManagerScope", "container or pod"),
  "pod-max-pids": mirror("podPidsLimit", "maximum number of processes per pod; -1: the node's allocatable capacity"),
  "allowed-unsafe-sysctls": mirror(
    "allowedUnsafeSysctls",
    "unsafe sysctls or sysctl patterns (ending in *) that pods may use",
  ),
  "protect-kernel-defaults": mirror(
    "protectKernelDefaults",
    "fail if kernel tunables differ from the kubelet's defaults, instead of setting them",
  ),
  "fail-swap-on": mirror("failSwapOn", "fail to start if swap is enabled on the node"),
  "fail-cgroupv1": equalOf("failCgroupV1", "fail to start on a host with cgroup v1"),
};

export const EVICTION: Flags = {
  "eviction-hard": mirror(
    "evictionHard",
    "hard eviction thresholds, for example memory.available<100Mi,nodefs.available<10%",
    { kind: "thresholds", default: "" },
  ),
  "eviction-soft": mirror(
    "evictionSoft",
    "soft eviction thresholds; pods are evicted after --eviction-soft-grace-period",
    { kind: "thresholds" },
  ),
  "eviction-soft-grace-period": mirror(
    "evictionSoftGracePeriod",
    "grace periods of soft eviction thresholds, for example memory.available=1m30s",
  ),
  "eviction-max-pod-grace-period": mirror(
    "evictionMaxPodGracePeriod",
    "maximum grace period in seconds for pods that a soft eviction terminates; negative: the pod's own",
  ),
  "eviction-minimum-reclaim": mirror(
    "evictionMinimumReclaim",
    "minimum amount to reclaim in an eviction, for example nodefs.available=500Mi",
  ),
  "eviction-pressure-transition-period": mirror(
    "evictionPressureTransitionPeriod",
    "duration that the kubelet waits before it clears an eviction pressure condition",
  ),
  "kernel-memcg-notification": mirror(
    "kernelMemcgNotification",
    "use kernel memcg notifications for memory eviction thresholds",
  ),
  "experimental-allocatable-ignore-eviction": flag(
    "bool",
    "false",
    "ignore hard eviction thresholds when calculating node allocatable",
    { deprecated: "remove it: upstream will remove the flag and always include the thresholds" },
  ),
  "maximum-dead-containers": flag(
    "int32",
    "-1",
    "maximum number of dead containers to keep on the node; negative: no limit",
    {
      deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
    },
  ),
  "maximum-dead-containers-per-container": flag("int32", "1", "maximum number of old instances to keep per container", {
    deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
  }),
  "minimum-container-ttl-duration": flag(
    "duration",
    "0s",
    "minimum age of an exited container before it is garbage collected",
    {
      deprecated: "use --eviction-hard or --eviction-soft: disk pressure removes dead containers",
    },
  ),
};
