// As upstream's encoder, the two below use the key order of the API types and omit empty fields.

import type { ContainerPort, LifecycleHandler } from "../../shared/kubernetes/api/pod.js";

export function portJson(port: ContainerPort): Record<string, unknown> {
  return {
    name: port.name || undefined,
    hostPort: port.hostPort || undefined,
    containerPort: port.containerPort,
    protocol: port.protocol,
    hostIP: port.hostIP || undefined,
  };
}

export function handlerJson(handler: LifecycleHandler): Record<string, unknown> {
  const { exec, httpGet, tcpSocket, sleep } = handler;
  return {
    exec: exec && { command: exec.command?.length ? exec.command : undefined },
    httpGet: httpGet && {
      path: httpGet.path || undefined,
      port: httpGet.port,
      host: httpGet.host || undefined,
      scheme: httpGet.scheme,
      httpHeaders: httpGet.httpHeaders?.length
        ? httpGet.httpHeaders.map(({ name, value }) => ({ name, value }))
        : undefined,
    },
    tcpSocket: tcpSocket && { port: tcpSocket.port, host: tcpSocket.host || undefined },
    sleep: sleep && { seconds: sleep.seconds },
  };
}

/** Annotations that the kubelet sets on the pods of its sources. */
export const CONFIG_SEEN = "kubernetes.io/config.seen";
