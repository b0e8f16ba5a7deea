// PodSandboxConfig: everything RunPodSandbox needs to know of a pod. Each CreateContainer of that sandbox sends the
// same value again, but for long lists of ports, so it must depend only on its input.

import { containersOf } from "../../../../shared/kubernetes/api/pod-containers.js";
import { type ContainerPort, type Pod } from "../../../../shared/kubernetes/api/pod.js";
import type {
  LinuxContainerResources,
  PodSandboxConfig,
  PortMapping,
  UserNamespace,
} from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { LinuxSandboxSecurityContext, Protocol } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { sandboxAnnotations, sandboxLabels } from "../../../model/labels.js";
import { supplementalGroups } from "../../../model/run-as-user.js";
import { dottedSysctl } from "../../../model/sysctl-name.js";
import type { PodDns } from "../../network/pod-dns.js";
import { podNamespaces } from "./namespaces.js";
import { runtimeDefaultProfile } from "./profiles.js";
import { groupsPolicy, selinuxOption } from "./security-context.js";

export interface SandboxInput {
  pod: Pod;
  /** 0 for the pod's first sandbox, one more for each that replaces it. */
  attempt: number;
  /** From sandboxHostname(); not sent for a pod on the node's network. */
  hostname: string;
  dns: PodDns;
  /** From podLogDirectory(). */
  logDirectory: string;
  /** Pod cgroup in CRI's form; "": the runtime chooses. */
  cgroupParent: string;
  /** Sum of the containers' resources, without overhead. */
  resources?: LinuxContainerResources;
  overhead?: LinuxContainerResources;
  /** Id maps for hostUsers false. */
  userNamespace?: UserNamespace | undefined;
}

export function sandboxConfig(input: SandboxInput): PodSandboxConfig {
  const { pod, attempt } = input;
  const { name, namespace, uid } = pod.metadata;
  return {
    metadata: { name, namespace, uid, attempt },
    hostname: pod.spec.hostNetwork === true ? "" : input.hostname,
    logDirectory: input.logDirectory,
    dnsConfig: {
      servers: [...input.dns.servers],
      searches: [...input.dns.searches],
      options: [...input.dns.options],
    },
    portMappings: pod.spec.containers.flatMap((container) => (container.ports ?? []).map(portMapping)),
    labels: sandboxLabels(pod),
    annotations: sandboxAnnotations(pod),
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: sandboxSecurityContext(input),
      sysctls: sandboxSysctls(pod),
      overhead: input.overhead,
      resources: input.resources,
    },
    windows: undefined,
  };
}

/** Port mappings that each container of the pod repeats. */
export const MOST_REPEATED_PORTS = 64;

/**
 * The value for CreateContainer and PullImage. A pod of ten thousand containers has as many port mappings or more, and
 * each of its containers would send them all. Runtimes map ports when they make the sandbox.
 */
export function repeatedConfig(config: PodSandboxConfig): PodSandboxConfig {
  return config.portMappings.length <= MOST_REPEATED_PORTS ? config : { ...config, portMappings: [] };
}

const protocols = { TCP: Protocol.TCP, UDP: Protocol.UDP, SCTP: Protocol.SCTP } as const;

function portMapping(port: ContainerPort): PortMapping {
  return {
    protocol: protocols[port.protocol ?? "TCP"],
    containerPort: port.containerPort,
    hostPort: port.hostPort ?? 0,
    hostIp: port.hostIP ?? "",
  };
}

function sandboxSecurityContext(input: SandboxInput): LinuxSandboxSecurityContext {
  const { pod } = input;
  const context = pod.spec.securityContext ?? {};
  const { runAsUser, runAsGroup } = context;
  const containers = containersOf(pod.spec);
  return LinuxSandboxSecurityContext.fromPartial({
    namespaceOptions: podNamespaces(pod, input.userNamespace),
    selinuxOptions: selinuxOption(context.seLinuxOptions),
    runAsUser: runAsUser === undefined ? undefined : { value: BigInt(runAsUser) },
    // containerd and CRI-O refuse a group without a user; the pause process needs neither.
    runAsGroup: runAsUser === undefined || runAsGroup === undefined ? undefined : { value: BigInt(runAsGroup) },
    readonlyRootfs: false,
    // Without the groups of volumes: the pause process opens no file of theirs, and sandboxes do not wait for volumes.
    supplementalGroups: supplementalGroups(pod, []),
    supplementalGroupsPolicy: groupsPolicy(context),
    privileged: containers.some((container) => container.securityContext?.privileged === true),
    seccomp: runtimeDefaultProfile,
  });
}

function sandboxSysctls(pod: Pod): Record<string, string> {
  const sysctls = pod.spec.securityContext?.sysctls ?? [];
  return Object.fromEntries(sysctls.map(({ name, value }) => [dottedSysctl(name), value]));
}
