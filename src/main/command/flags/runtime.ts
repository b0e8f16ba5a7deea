// Flags of what pods run on: container runtime, images, network, volumes.

import { flag, mirror, type Flags } from "./flag.js";

export const RUNTIME: Flags = {
  "container-runtime-endpoint": mirror("containerRuntimeEndpoint", "endpoint of the container runtime (CRI)"),
  "image-service-endpoint": mirror(
    "imageServiceEndpoint",
    "endpoint of the image service; empty: the container runtime's endpoint",
  ),
  "runtime-request-timeout": mirror(
    "runtimeRequestTimeout",
    "timeout of runtime requests, except for the long-running pull, logs, exec and attach",
  ),
  "cri-channel": flag(
    "criChannel",
    "own",
    "HTTP/2 to the container runtime; own: the kubelet's own channel, and that of grpc-js after the runtime broke the protocol; grpc-js: always that of grpc-js",
  ),
  "container-log-max-size": mirror(
    "containerLogMaxSize",
    "maximum size of a container log file before it is rotated; negative: no rotation",
  ),
  "container-log-max-files": mirror("containerLogMaxFiles", "maximum number of log files per container, at least 2"),
  "seccomp-default": flag("bool", "false", "use RuntimeDefault as the default seccomp profile"),
  "serialize-image-pulls": mirror("serializeImagePulls", "pull one image at a time"),
  "registry-qps": mirror("registryPullQPS", "maximum image pulls per second; 0: no limit"),
  "registry-burst": mirror("registryBurst", "burst of image pulls above the rate"),
  "image-gc-high-threshold": mirror(
    "imageGCHighThresholdPercent",
    "percentage of disk usage above which image garbage collection runs; 100: never",
  ),
  "image-gc-low-threshold": mirror(
    "imageGCLowThresholdPercent",
    "percentage of disk usage down to which image garbage collection frees space",
  ),
  "minimum-image-ttl-duration": mirror(
    "imageMinimumGCAge",
    "minimum age of an unused image before it is garbage collected",
  ),
  "image-credential-provider-config": flag(
    "string",
    "",
    "file or directory with the configuration of credential provider plugins",
  ),
  "image-credential-provider-bin-dir": flag("string", "", "directory of the credential provider plugin binaries"),
};

export const DOCKER: Flags = {
  "container-runtime": flag(
    "string",
    "remote",
    "remote: the runtime at the container runtime endpoint; docker: the Docker Engine, by a CRI server in this process",
  ),
  "experimental-dockershim": flag(
    "bool",
    "false",
    "run only the CRI server over the Docker Engine, on the container runtime endpoint (default unix:///var/run/dockershim.sock)",
  ),
  "docker-endpoint": flag("string", "unix:///var/run/docker.sock", "endpoint of the Docker Engine: unix:// or tcp://"),
  "image-pull-progress-deadline": flag(
    "duration",
    "1m0s",
    "time without progress after which a pull of the Docker Engine is cancelled",
  ),
  "pod-infra-container-image": flag(
    "string",
    "registry.k8s.io/pause:3.10.2",
    "image of the Docker Engine's sandbox containers; image garbage collection keeps it",
  ),
  "network-plugin": flag("string", "none", "network of the Docker Engine's pods: cni, or none for docker's own"),
  "cni-bin-dir": flag("strings", "/opt/cni/bin", "directories of the CNI plugin binaries"),
  "cni-conf-dir": flag("string", "/etc/cni/net.d", "directory of the CNI configuration files"),
  "cni-cache-dir": flag("string", "/var/lib/cni/cache", "directory of the CNI plugins' results"),
};

export const NETWORK: Flags = {
  "cluster-dns": mirror("clusterDNS", "DNS server addresses for pods with dnsPolicy ClusterFirst"),
  "cluster-domain": mirror(
    "clusterDomain",
    "domain of the cluster; a search domain of pods with dnsPolicy ClusterFirst",
  ),
  "resolv-conf": mirror(
    "resolvConf",
    "resolver configuration file as the basis of containers' DNS configuration; empty: none",
  ),
  "pod-cidr": mirror("podCIDR", "CIDR of pod IP addresses; only used in stand-alone mode"),
  "hairpin-mode": mirror(
    "hairpinMode",
    "promiscuous-bridge, hairpin-veth or none; only the runtime's network plugin sets up hairpin mode",
  ),
  "make-iptables-util-chains": mirror(
    "makeIPTablesUtilChains",
    "ensure that the iptables utility rules exist on the host",
  ),
};

export const VOLUMES: Flags = {
  "volume-plugin-dir": mirror("volumePluginDir", "directory of FlexVolume plugins"),
  "volume-stats-agg-period": mirror(
    "volumeStatsAggPeriod",
    "period between two calculations of the volumes' disk usage; negative: disabled",
  ),
  "enable-controller-attach-detach": mirror(
    "enableControllerAttachDetach",
    "let the attach/detach controller attach and detach volumes",
  ),
  "local-storage-capacity-isolation": mirror(
    "localStorageCapacityIsolation",
    "enable requests and limits for local ephemeral storage",
  ),
  "experimental-mounter-path": flag("string", "", "path of a mounter binary; empty: the default mount", {
    deprecated: "remove it: the kubelet uses the host's mount",
  }),
};
