// Verbs about the runtime itself.

import { CgroupDriver, type RuntimeCondition } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Verbs } from "./call.js";
import { toStatus } from "./fault.js";
import type { Shim } from "./shim.js";

type RuntimeVerb = "version" | "status" | "runtimeConfig" | "updateRuntimeConfig";

export function runtimeVerbs(shim: Shim): Verbs<RuntimeVerb> {
  return {
    async version(_request, signal) {
      const { ServerVersion } = await shim.info(signal);
      return { version: "0.1.0", runtimeName: "docker", runtimeVersion: ServerVersion, runtimeApiVersion: "v1" };
    },

    async status({ verbose }, signal) {
      const runtime = await runtimeCondition(shim, signal);
      const problem = await shim.network.problem();
      return {
        status: {
          conditions: [
            runtime,
            condition(
              "NetworkReady",
              "NetworkPluginNotReady",
              problem && `docker: network plugin is not ready: ${problem}`,
            ),
          ],
        },
        info: verbose ? { config: JSON.stringify({ sandboxImage: shim.init.podInfraContainerImage }) } : {},
        runtimeHandlers: [],
        features: { supplementalGroupsPolicy: false, userNamespacesHostNetwork: false, mountOptions: false },
      };
    },

    async runtimeConfig(_request, signal) {
      const driver = await shim.cgroupDriver(signal);
      return { linux: { cgroupDriver: driver === "systemd" ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS } };
    },

    updateRuntimeConfig({ runtimeConfig }) {
      const cidr = runtimeConfig?.networkConfig?.podCidr ?? "";
      if (cidr !== "") shim.network.setPodCidr(cidr);
      return Promise.resolve({});
    },
  };
}

async function runtimeCondition(shim: Shim, signal: AbortSignal): Promise<RuntimeCondition> {
  try {
    await shim.info(signal);
    return condition("RuntimeReady", "DockerDaemonNotReady", undefined);
  } catch (error) {
    if (signal.aborted) throw error;
    return condition("RuntimeReady", "DockerDaemonNotReady", `docker: ${toStatus(error).details}`);
  }
}

function condition(type: string, reason: string, problem: string | undefined): RuntimeCondition {
  return { type, status: problem === undefined, reason: problem === undefined ? "" : reason, message: problem ?? "" };
}
