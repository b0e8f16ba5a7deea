// Registration of device plugins, by either way: at kubelet.sock, where the plugin calls, or below plugins_registry,
// where it is called. Texts of refusals are upstream's: plugins log them.

import { basename } from "node:path";
import { quoteStart } from "../../../shared/base/text/quote.js";
import { isExtendedResourceName } from "../../../shared/kubernetes/api/extended-resources.js";
import { type PluginHandler } from "../../model/plugin-handler.js";
import { PluginRefusedError } from "../../model/plugin-refused.js";
import type { Endpoints } from "./endpoints.js";
import type { DeviceMetrics } from "./metrics.js";
import { DevicePluginError } from "./plugin-port.js";

const VERSION = "v1beta1";
/** The kubelet's own, in the same directory. */
export const OWN_SOCKET = "kubelet.sock";

export interface RegisterRequest {
  version: string;
  /** Name of the plugin's socket, in the directory of kubelet.sock. */
  endpoint: string;
  resourceName: string;
}

export interface RegisterDeps {
  endpoints: Pick<Endpoints, "register" | "of">;
  metrics: DeviceMetrics;
  /** <root-dir>/device-plugins */
  directory: string;
}

/** @throws DevicePluginError */
export async function registerPlugin(
  { version, endpoint, resourceName }: RegisterRequest,
  { endpoints, metrics, directory }: RegisterDeps,
  signal: AbortSignal,
): Promise<void> {
  if (version !== VERSION) {
    throw new DevicePluginError(
      `requested API version ${quoteStart(version, LONGEST_QUOTE)} is not supported by kubelet. Supported version is ["${VERSION}"]`,
    );
  }
  if (!isExtendedResourceName(resourceName)) throw new DevicePluginError(invalidName(resourceName));
  if (!isSocketName(endpoint)) {
    const what = `the endpoint ${quoteStart(endpoint, LONGEST_QUOTE)} of ${resourceName} is no name of a socket in ${directory}`;
    throw new DevicePluginError(what);
  }
  try {
    await endpoints.register(resourceName, `${directory}/${endpoint}`, signal);
  } finally {
    // Names that were never connected are without a bound.
    if (endpoints.of(resourceName) !== undefined) metrics.registered(resourceName);
  }
}

/** Returns the handler for device plugin sockets below plugins_registry. */
export function devicePluginHandler(endpoints: Pick<Endpoints, "register" | "deregister">): PluginHandler {
  return {
    validate({ name, versions }) {
      if (!versions.includes(VERSION)) {
        throw new PluginRefusedError(
          `manager version, ${VERSION}, is not among plugin supported versions [${versions.join(" ")}]`,
        );
      }
      if (!isExtendedResourceName(name)) {
        throw new PluginRefusedError(`invalid name of device plugin socket: ${invalidName(name)}`);
      }
    },
    register: ({ name, endpoint }, signal) => endpoints.register(name, endpoint, signal),
    deregister({ name, endpoint }) {
      endpoints.deregister(name, endpoint);
      return Promise.resolve();
    },
  };
}

function invalidName(name: string): string {
  return `the ResourceName ${quoteStart(name, LONGEST_QUOTE)} is invalid`;
}

/** Longest text of a plugin that an error or the log repeats. */
export const LONGEST_QUOTE = 300;

/** Longest name of a file on Linux. */
const LONGEST_NAME = 255;

function isSocketName(endpoint: string): boolean {
  return (
    endpoint.length <= LONGEST_NAME &&
    !["", ".", "..", OWN_SOCKET].includes(endpoint) &&
    basename(endpoint) === endpoint
  );
}
