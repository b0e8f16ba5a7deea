// The request that creates a sandbox: the container that holds a pod's namespaces. Pure but for seccomp profiles.

import type Docker from "dockerode";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { Protocol, type PodSandboxConfig, type PortMapping } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { criCgroupParent, type CgroupDriverName } from "../containers/cgroup-parent.js";
import { LOG_CONFIG, SHM_BYTES, userOf } from "../containers/create-config.js";
import { isHostNetwork, sandboxModes } from "../containers/namespaces.js";
import { currentProfiles, securityOptions } from "../containers/security-options.js";
import { dockerLabels, TYPE_LABEL } from "../names.js";

/** As upstream's sandboxes: the last to be killed when memory is short. */
const OOM_SCORE_ADJ = -998;

export interface SandboxInput {
  config: PodSandboxConfig;
  image: string;
  cgroupDriver: CgroupDriverName;
  /** docker's network: "none" where CNI sets it up, or "default". */
  podNetwork: "none" | "default";
  lowestOomScoreAdj: number;
}

export async function sandboxOptions({
  config,
  image,
  cgroupDriver,
  podNetwork,
  lowestOomScoreAdj,
}: SandboxInput): Promise<Docker.ContainerCreateOptions> {
  const { linux, hostname, labels, annotations } = config;
  const security = linux?.securityContext;
  const onHost = isHostNetwork(security?.namespaceOptions);
  const ports = podNetwork === "default" && !onHost ? dockerPorts(config.portMappings) : undefined;
  const user = userOf(security && { ...security, runAsUsername: "" });
  return omitUndefined({
    Image: image,
    Labels: dockerLabels(labels, annotations, { [TYPE_LABEL]: "podsandbox" }),
    // docker refuses a host name beside the host's UTS namespace.
    Hostname: !onHost ? hostname : undefined,
    User: user !== "" ? user : undefined,
    ExposedPorts: ports ? ports.exposed : undefined,
    HostConfig: omitUndefined({
      ...sandboxModes(security?.namespaceOptions, podNetwork),
      PortBindings: ports ? ports.bindings : undefined,
      CgroupParent: criCgroupParent(linux?.cgroupParent ?? "", cgroupDriver),
      OomScoreAdj: Math.max(OOM_SCORE_ADJ, lowestOomScoreAdj),
      Sysctls: linux?.sysctls ?? {},
      ShmSize: SHM_BYTES,
      LogConfig: LOG_CONFIG,
      Privileged: security?.privileged ?? false,
      ReadonlyRootfs: security?.readonlyRootfs ?? false,
      GroupAdd: (security?.supplementalGroups ?? []).map(String),
      SecurityOpt: await securityOptions({
        privileged: security?.privileged ?? false,
        ...(security === undefined ? { seccomp: undefined, apparmor: undefined } : currentProfiles(security)),
        selinuxOptions: security?.selinuxOptions,
        noNewPrivs: true,
      }),
    }),
  });
}

interface DockerPorts {
  exposed: Record<string, object>;
  bindings: Record<string, { HostIp: string; HostPort: string }[]>;
}

/** Ports without a host port need no binding. @internal */
export function dockerPorts(mappings: readonly PortMapping[]): DockerPorts {
  const ports: DockerPorts = { exposed: {}, bindings: {} };
  for (const { containerPort, hostPort, hostIp, protocol } of mappings) {
    if (hostPort === 0) continue;
    const key = `${containerPort}/${protocolName(protocol)}`;
    ports.exposed[key] = {};
    (ports.bindings[key] ??= []).push({ HostIp: hostIp, HostPort: String(hostPort) });
  }
  return ports;
}

/** In lower case, as docker and CNI write it. */
export function protocolName(protocol: Protocol): "tcp" | "udp" | "sctp" {
  const names = { [Protocol.TCP]: "tcp", [Protocol.UDP]: "udp", [Protocol.SCTP]: "sctp" } as const;
  return names[protocol];
}
