// Flags of what pods run on: container runtime, images, network, volumes.
import { flag, mirror, type Flags } from "./flag.js";

export const RUNTIME: Flags = {
  "container-runtime-endpoint": mirror(
    "string",
    "unix:///run/containerd/containerd.sock",
    "containerRuntimeEndpoint",
    "socket of the container runtime (CRI)",
  ),
  "image-service-endpoint": mirror(
    "string",
    "",
    "imageServiceEndpoint",
    "socket of the image service; empty: the container runtime's",
  ),
  "runtime-request-timeout": mirror(
    "duration",
    "2m0s",
    "runtimeRequestTimeout",
    "deadline of calls to the runtime, save pull, logs, exec and attach",
  ),
  "container-log-max-size": mirror(
    "string",
    "10Mi",
    "containerLogMaxSize",
    "a container's log is rotated at this size",
  ),
  "container-log-max-files": mirror("int32", "5", "containerLogMaxFiles", "log files kept per container, at least 2"),
  "seccomp-default": flag("bool", "false", "use the runtime's seccomp profile for containers that name none"),
  "serialize-image-pulls": mirror("bool", "true", "serializeImagePulls", "pull one image at a time"),
  "registry-qps": mirror("int32", "5", "registryPullQPS", "image pulls per second; 0: no limit"),
  "registry-burst": mirror("int32", "10", "registryBurst", "image pulls at once, above the rate"),
  "image-gc-high-threshold": mirror(
    "int32",
    "85",
    "imageGCHighThresholdPercent",
    "percentage of disk use above which unused images are removed; 100: never",
  ),
  "image-gc-low-threshold": mirror(
    "int32",
    "80",
    "imageGCLowThresholdPercent",
    "percentage of disk use down to which unused images are removed",
  ),
  "minimum-image-ttl-duration": mirror("duration", "2m0s", "imageMinimumGCAge", "an unused image is kept this long"),
  "image-credential-provider-config": flag("string", "", "file or directory that configures credential providers"),
  "image-credential-provider-bin-dir": flag("string", "", "directory of the credential providers' executables"),
};

export const NETWORK: Flags = {
  "cluster-dns": mirror("strings", "", "clusterDNS", "name servers of pods with the DNS policy ClusterFirst"),
  "cluster-domain": mirror("string", "", "clusterDomain", "domain of the cluster, searched by ClusterFirst pods"),
  "resolv-conf": mirror(
    "string",
    "/etc/resolv.conf",
    "resolvConf",
    "resolver file that pods' DNS settings start from; empty: none",
  ),
  "pod-cidr": mirror("string", "", "podCIDR", "addresses for pods, stand-alone only"),
  "hairpin-mode": mirror(
    "string",
    "promiscuous-bridge",
    "hairpinMode",
    "promiscuous-bridge, hairpin-veth or none; the runtime's network decides",
  ),
  "make-iptables-util-chains": mirror(
    "bool",
    "true",
    "makeIPTablesUtilChains",
    "make the iptables chain that tells others which iptables is in use",
  ),
};

export const VOLUMES: Flags = {
  "volume-plugin-dir": mirror(
    "string",
    "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "volumePluginDir",
    "directory of FlexVolume plugins",
  ),
  "volume-stats-agg-period": mirror(
    "duration",
    "1m0s",
    "volumeStatsAggPeriod",
    "time between two measurements of volumes' usage; negative: never",
  ),
  "enable-controller-attach-detach": mirror(
    "bool",
    "true",
    "enableControllerAttachDetach",
    "leave attaching and detaching of volumes to the control plane",
  ),
  "local-storage-capacity-isolation": mirror(
    "bool",
    "true",
    "localStorageCapacityIsolation",
    "account for ephemeral storage and keep its limits",
  ),
  "experimental-mounter-path": flag("string", "", "program that mounts instead of mount(8)", {
    deprecated: "leave it out: mount(8) of the host is used",
  }),
};
