// Verbs about the runtime itself.

import { CgroupDriver } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeWorld, UnaryVerbs } from "../context.js";
import { Fault } from "../fault.js";

export function runtimeVerbs({
  settings,
}: FakeWorld): UnaryVerbs<"version" | "status" | "runtimeConfig" | "updateRuntimeConfig"> {
  return {
    version: () => ({
      version: "0.1.0",
      runtimeName: settings.runtimeName,
      runtimeVersion: settings.runtimeVersion,
      runtimeApiVersion: "v1",
    }),
    status: () => ({
      status: {
        conditions: [
          condition("RuntimeReady", settings.runtimeReady, "RuntimeNotReady", "the runtime is starting"),
          condition("NetworkReady", settings.networkReady, "NetworkPluginNotReady", "cni plugin not initialized"),
        ],
      },
      info: {},
      runtimeHandlers: settings.runtimeHandlers,
      features: settings.features,
    }),
    runtimeConfig: () => {
      if (settings.cgroupDriver === undefined) throw new Fault("UNIMPLEMENTED", "unknown method RuntimeConfig");
      const driver = settings.cgroupDriver === "systemd" ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS;
      return { linux: { cgroupDriver: driver } };
    },
    updateRuntimeConfig: () => ({}),
  };
}

function condition(type: string, status: boolean, reason: string, message: string) {
  return { type, status, reason: status ? "" : reason, message: status ? "" : message };
}
