// docker's sandbox containers as CRI shows them.

import type Docker from "dockerode";
import {
  PodSandboxState,
  type PodSandboxNetworkStatus,
  type PodSandboxStatus,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { isHostNetworkMode, namespaceOption } from "../containers/namespaces.js";
import { nanosOf } from "../engine/times.js";
import { criLabels, sandboxMetadata } from "../names.js";
import type { Shim } from "../shim.js";

export async function sandboxStatus(shim: Shim, found: Docker.ContainerInspectInfo): Promise<PodSandboxStatus> {
  const { Id, State, Config, HostConfig, Name, Created } = found;
  return {
    id: Id,
    metadata: sandboxMetadata(Name),
    state: State.Running ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: nanosOf(Created),
    network: await networkStatus(shim, found),
    linux: { namespaces: { options: namespaceOption(HostConfig) } },
    runtimeHandler: "",
    ...criLabels(Config.Labels),
  };
}

/** A pod on the host's network has no addresses of its own. */
async function networkStatus(
  shim: Shim,
  { Id, State, HostConfig, NetworkSettings }: Docker.ContainerInspectInfo,
): Promise<PodSandboxNetworkStatus> {
  const none = { ip: "", additionalIps: [] };
  if (!State.Running || isHostNetworkMode(HostConfig.NetworkMode)) return none;
  const checkpoint = await shim.checkpoints.read(Id);
  const ofDocker = Object.values(NetworkSettings.Networks).flatMap(({ IPAddress, GlobalIPv6Address }) => [
    IPAddress,
    GlobalIPv6Address,
  ]);
  const ips = shim.network.dockerNetwork === "none" ? (checkpoint?.data.ips ?? []) : ofDocker;
  const [ip = "", ...more] = ips.filter((address) => address !== "");
  return { ip, additionalIps: more.map((address) => ({ ip: address })) };
}
