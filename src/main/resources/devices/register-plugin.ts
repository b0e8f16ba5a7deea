// Registration of device plugins, by either way: at kubelet.sock, where the plugin calls, or below plugins_registry, where
// it is called. Texts of refusals are upstream's: plugins log them.
import { basename } from "node:path";
import { isExtendedResourceName } from "../../../shared/api/extended-resources.js";
import type { DeviceMetrics } from "./metrics.js";
import { PluginRefusedError, type PluginHandler } from "../../model/plugin-handler.js";
import type { Endpoints } from "./endpoints.js";
import { DevicePluginError } from "./plugin-port.js";

const VERSION = "v1beta1";

export interface RegisterRequest {
  version: string;
  /** Name of the plugin's socket, in the directory of kubelet.sock. */
  endpoint: string;
  resourceName: string;
}

export interface RegisterDeps {
  endpoints: Pick<Endpoints, "register">;
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
  metrics.registered(resourceName);
  if (version !== VERSION) {
    throw new DevicePluginError(
      `requested API version "${version}" is not supported by kubelet. Supported version is ["${VERSION}"]`,
    );
  }
  if (!isExtendedResourceName(resourceName)) throw new DevicePluginError(invalidName(resourceName));
  if (endpoint === "" || basename(endpoint) !== endpoint) {
    throw new DevicePluginError(`the endpoint "${endpoint}" of ${resourceName} is no name of a socket in ${directory}`);
  }
  await endpoints.register(resourceName, `${directory}/${endpoint}`, signal);
}

/** Of sockets below plugins_registry. */
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
  return `the ResourceName "${name}" is invalid`;
}
