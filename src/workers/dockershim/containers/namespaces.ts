// Namespaces of CRI ↔ docker's modes. A pod's namespaces are those of its sandbox container. Pure.

import { NamespaceMode, type NamespaceOption } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";

export interface NamespaceModes {
  NetworkMode: string;
  IpcMode: string;
  PidMode: string;
  UTSMode: string;
}

/** @param podNetwork docker's network for sandboxes: "none" where CNI sets it up, or "default" */
export function sandboxModes(options: NamespaceOption | undefined, podNetwork: string): NamespaceModes {
  const host = isHostNetwork(options);
  return {
    NetworkMode: host ? "host" : podNetwork,
    // Other containers may join it: by default docker keeps it to the container.
    IpcMode: options?.ipc === NamespaceMode.NODE ? "host" : "shareable",
    PidMode: options?.pid === NamespaceMode.NODE ? "host" : "",
    UTSMode: host ? "host" : "",
  };
}

export function containerModes(options: NamespaceOption | undefined, sandboxId: string): NamespaceModes {
  const sandbox = `container:${sandboxId}`;
  const pid: Record<NamespaceMode, string> = {
    [NamespaceMode.POD]: sandbox,
    [NamespaceMode.CONTAINER]: "",
    [NamespaceMode.NODE]: "host",
    [NamespaceMode.TARGET]: `container:${options?.targetId ?? ""}`,
  };
  return {
    NetworkMode: sandbox,
    IpcMode: sandbox,
    PidMode: pid[options?.pid ?? NamespaceMode.CONTAINER],
    UTSMode: isHostNetwork(options) ? "host" : "",
  };
}

/** Reads a sandbox's namespaces from the Engine's HostConfig. */
export function namespaceOption(host: {
  NetworkMode?: string | undefined;
  IpcMode?: string | undefined;
  PidMode?: string | undefined;
}): NamespaceOption {
  const mode = (value: string | undefined): NamespaceMode =>
    value === "host" ? NamespaceMode.NODE : NamespaceMode.POD;
  return {
    network: mode(host.NetworkMode),
    pid: host.PidMode === "host" ? NamespaceMode.NODE : NamespaceMode.CONTAINER,
    ipc: mode(host.IpcMode),
    targetId: "",
    usernsOptions: undefined,
  };
}

export function isHostNetwork(options: NamespaceOption | undefined): boolean {
  return options?.network === NamespaceMode.NODE;
}

/** docker's network mode of a container on the host's network. */
export function isHostNetworkMode(mode: string | undefined): boolean {
  return mode === "host";
}
