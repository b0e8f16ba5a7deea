// Flags of older kubelets that unit files may still carry. The kubelet of 1.36 refuses them as unknown; here the error
// names the version that removed the flag, and the remedy.

export interface RemovedFlag {
  /** The last minor version of Kubernetes 1 that knew it. */
  readonly last: number;
  /** The version is known only roughly. */
  readonly about?: true;
  /** It took no separate value (--x alone). */
  readonly bool?: true;
  readonly advice: string;
}

const gone = (last: number, advice: string): RemovedFlag => ({ last, advice });
const goneBool = (last: number, advice: string): RemovedFlag => ({ last, advice, bool: true });

const KLOG = "remove it: the kubelet logs to standard error; its supervisor (journald) handles files and rotation";
const LOG_STDERR = "remove it: logs always go to standard error";
const CNI = "use --cni-bin-dir with --container-runtime=docker; other runtimes have their own setting";
const DOCKER_STATS =
  "remove it: usage of containers comes from their cgroups and from the Docker Engine of --docker-endpoint";
const DOCKER_TLS = "remove it: --docker-endpoint has no TLS; use the Engine's unix socket";
const SOURCES = "use Pod Security admission in the API server to restrict host namespaces";
const RKT = "the rkt runtime was removed; set --container-runtime-endpoint to a CRI runtime";
const IPTABLES = "remove it: kube-proxy maintains these iptables rules";
const KUBENET = "kubenet was removed; configure a CNI network plugin in the container runtime";
const KUBECONFIG = "set the API server's address and credentials in the file of --kubeconfig";
const NOTHING = "remove it; it has no replacement";

const renamed = (name: string): string => `use --${name}, which takes the same value`;

export const REMOVED_FLAGS: Readonly<Record<string, RemovedFlag>> = {
  "add-dir-header": goneBool(25, KLOG),
  "allow-privileged": goneBool(14, "privileged pods are always allowed; use Pod Security admission to refuse them"),
  alsologtostderr: goneBool(25, LOG_STDERR),
  "api-servers": gone(7, KUBECONFIG),
  "azure-container-registry-config": {
    last: 29,
    about: true,
    advice:
      "use a credential provider: --image-credential-provider-config and --image-credential-provider-bin-dir with acr-credential-provider",
  },
  "bootstrap-checkpoint-path": gone(18, "use static pods (staticPodPath) for pods that must run without an API server"),
  "cadvisor-port": gone(11, "use /metrics/cadvisor on the kubelet's port"),
  "chaos-chance": { last: 21, about: true, advice: "remove it: it was only for tests" },
  "cloud-config": gone(
    33,
    "in-tree cloud providers were removed: pass the file to the cloud controller manager and set --cloud-provider=external",
  ),
  "configure-cbr0": goneBool(4, KUBENET),
  containerized: goneBool(15, "run the kubelet as a service of the host, not in a container"),
  docker: gone(23, "use --docker-endpoint, which takes the same value, with --container-runtime=docker"),
  "docker-env-metadata-whitelist": gone(23, DOCKER_STATS),
  "docker-exec-handler": gone(6, "remove it: commands run through the Docker Engine's own exec"),
  "docker-only": goneBool(23, DOCKER_STATS),
  "docker-root": gone(23, "remove it: the Docker Engine reports the directory of its data"),
  "docker-tls": goneBool(23, DOCKER_TLS),
  "docker-tls-ca": gone(23, DOCKER_TLS),
  "docker-tls-cert": gone(23, DOCKER_TLS),
  "docker-tls-key": gone(23, DOCKER_TLS),
  "enable-cadvisor-json-endpoints": goneBool(20, "use /stats/summary and /metrics/cadvisor on the kubelet's port"),
  "enable-custom-metrics": goneBool(10, "use the custom metrics API with an adapter"),
  "experimental-allowed-unsafe-sysctls": gone(10, renamed("allowed-unsafe-sysctls")),
  "experimental-bootstrap-kubeconfig": gone(22, renamed("bootstrap-kubeconfig")),
  "experimental-check-node-capabilities-before-mount": goneBool(23, NOTHING),
  "experimental-cri": goneBool(6, "only CRI runtimes are supported; set --container-runtime-endpoint"),
  "experimental-dockershim-root-directory": gone(
    23,
    "remove it: the CRI server keeps its files in dockershim below --root-dir",
  ),
  "experimental-fail-swap-on": goneBool(11, renamed("fail-swap-on")),
  "experimental-kernel-memcg-notification": goneBool(23, renamed("kernel-memcg-notification")),
  "experimental-logging-sanitization": goneBool(23, "remove it; do not log secrets"),
  "experimental-qos-reserved": gone(10, renamed("qos-reserved")),
  "google-json-key": gone(9, "use a credential provider: --image-credential-provider-config"),
  "host-ipc-sources": gone(14, SOURCES),
  "host-network-sources": gone(14, SOURCES),
  "host-pid-sources": gone(14, SOURCES),
  "init-config-dir": gone(9, "set --config to the configuration file"),
  "iptables-drop-bit": gone(30, IPTABLES),
  "iptables-masquerade-bit": gone(30, IPTABLES),
  "keep-terminated-pod-volumes": goneBool(30, "remove it: volumes of terminated pods are always unmounted"),
  "log-backtrace-at": gone(25, "it has no replacement; use -v for more verbose logs"),
  "log-dir": gone(25, KLOG),
  "log-file": gone(25, KLOG),
  "log-file-max-size": gone(25, KLOG),
  logtostderr: goneBool(25, LOG_STDERR),
  "master-service-namespace": gone(26, "remove it: services are read from the pod's namespace and from default"),
  "network-plugin-dir": gone(7, CNI),
  "network-plugin-mtu": gone(23, "set the MTU in the network plugin's own configuration"),
  "non-masquerade-cidr": gone(23, "configure masquerading in the network plugin (ip-masq-agent)"),
  "one-output": goneBool(25, LOG_STDERR),
  "really-crash-for-testing": goneBool(23, "remove it: it was only for tests"),
  "redirect-container-streaming": goneBool(
    19,
    "remove it: exec, attach and port-forward always go through the kubelet",
  ),
  "register-schedulable": goneBool(
    33,
    "to register as unschedulable, use --register-with-taints=node.kubernetes.io/unschedulable:NoSchedule",
  ),
  "require-kubeconfig": goneBool(9, "remove it: --kubeconfig is sufficient"),
  "rkt-api-endpoint": gone(10, RKT),
  "rkt-path": gone(10, RKT),
  "rkt-stage1-image": gone(9, RKT),
  "seccomp-profile-root": gone(22, "move the profiles to the directory seccomp below --root-dir"),
  "skip-headers": goneBool(25, KLOG),
  "skip-log-headers": goneBool(25, KLOG),
  stderrthreshold: gone(25, LOG_STDERR),
};

/** "--docker was removed in Kubernetes 1.24: …", or undefined for any other name. */
export function removedMessage(name: string): string | undefined {
  const flag = Object.hasOwn(REMOVED_FLAGS, name) ? REMOVED_FLAGS[name] : undefined;
  if (flag === undefined) return undefined;
  const version = `Kubernetes 1.${flag.last + 1}`;
  return `--${name} was removed ${flag.about === true ? "around" : "in"} ${version}: ${flag.advice}`;
}
