// The runtime endpoint of flag and config field: "unix:///run/containerd/containerd.sock".

import { quote } from "../../base/text/quote.js";

/** Longest path that fits sockaddr_un with its closing NUL (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;

export class InvalidEndpointError extends Error {
  override readonly name = "InvalidEndpointError";
  constructor(endpoint: string, why: string) {
    super(
      `container runtime endpoint ${quote(endpoint)} ${why}; it must look like unix:///run/containerd/containerd.sock`,
    );
  }
}

export interface Endpoint {
  /** Absolute path of the socket. */
  path: string;
  /** True for a path without "unix://": accepted, but the caller warns. */
  bare: boolean;
}

/** Reads an endpoint. Throws InvalidEndpointError for anything but an absolute unix socket path. */
export function parseEndpoint(endpoint: string): Endpoint {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase();
  if (endpoint === "") throw new InvalidEndpointError(endpoint, "is empty");
  if (scheme !== undefined && scheme !== "unix") {
    throw new InvalidEndpointError(endpoint, `has the unsupported scheme ${quote(scheme)}`);
  }
  const path = scheme === undefined ? endpoint : endpoint.slice("unix:".length).replace(/^\/\//, "");
  if (!path.startsWith("/")) throw new InvalidEndpointError(endpoint, "is not an absolute path");
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw new InvalidEndpointError(
      endpoint,
      `is longer than the ${MAX_SOCKET_PATH_BYTES} bytes a socket path may have`,
    );
  }
  return { path, bare: scheme === undefined };
}
