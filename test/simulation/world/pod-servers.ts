// Servers in containers of the simulated machine: what HTTP and TCP probes reach. The container "cN" listens at the
// port of that number as long as it runs; its script says how it answers.

import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { kernel } from "../kernel/kernel.js";
import { network, type Accept } from "./network.js";
import type { SimulatedRuntime } from "./runtime.js";
import { isHealthy, isReady, scriptOf } from "./scripts.js";

const FIRST_PORT = 8000;
/** A server thinks about an answer, ms. */
const LEAST_MS = 0.2;
const MOST_MS = 40;

/** Port of the container of that number. */
export function portOf(index: number): number {
  return FIRST_PORT + index;
}

/** Connections to addresses of sandboxes reach their containers. */
export function servePods(runtime: SimulatedRuntime): void {
  network.fallback = (where) => {
    const [host = "", port = ""] = where.split(":");
    const container = listenerOf(runtime, host, Number(port) - FIRST_PORT);
    if (container === undefined) return undefined;
    return scriptOf(container.config).refuses && !isHealthy(container) ? undefined : serverOf(container);
  };
}

function listenerOf({ state }: SimulatedRuntime, host: string, index: number): FakeContainer | undefined {
  for (const { status, containers } of state.sandboxes.values()) {
    if (status.network?.ip !== host || status.state !== PodSandboxState.SANDBOX_READY) continue;
    for (const id of containers) {
      const container = state.containers.get(id);
      if (container?.config.metadata?.name !== `c${index}`) continue;
      if (container.status.state === ContainerState.CONTAINER_RUNNING) return container;
    }
  }
  return undefined;
}

function serverOf(container: FakeContainer): Accept {
  return (client) => {
    let asked = "";
    return (bytes) => {
      asked += bytes.toString("latin1");
      if (!asked.includes("\r\n\r\n")) return;
      const path = /^GET (\S+)/.exec(asked)?.[1];
      asked = "";
      kernel.after(kernel.world, kernel.random.between(LEAST_MS, MOST_MS), () => {
        const isGood = path === "/ready" ? isReady(container) : isHealthy(container);
        const line = isGood ? "200 OK" : "503 Service Unavailable";
        client.receive(Buffer.from(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`));
        client.end();
      });
    };
  };
}
