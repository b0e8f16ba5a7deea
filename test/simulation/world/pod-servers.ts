// Servers in containers of the simulated machine: what HTTP, gRPC and TCP probes reach. The container "cN" listens at
// the port of that number as long as it runs; its script says how it answers.

import { ContainerState, PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeContainer } from "../../fake-cri/state.js";
import { kernel } from "../kernel/kernel.js";
import { DATA, frameBytes, FrameReader, HEADERS, PREFACE, SETTINGS } from "./http2-frames.js";
import { network, type Accept } from "./network.js";
import type { SimulatedRuntime } from "./runtime.js";
import { isHealthy, isReady, scriptOf } from "./scripts.js";

const FIRST_PORT = 8000;
/** A server thinks about an answer, ms. */
const LEAST_MS = 0.2;
const MOST_MS = 40;
/** gRPC's prefix, and the tag and length of the service's name. */
const MESSAGE_BYTES = 7;
const [SERVING, NOT_SERVING] = [1, 2];

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
  const [http, grpc] = [httpServer(container), grpcServer(container)];
  return (client) => {
    let serve: ((bytes: Buffer) => void) | undefined;
    return (bytes) => {
      serve ??= (bytes.toString("latin1").startsWith(PREFACE) ? grpc : http)(client);
      serve(bytes);
    };
  };
}

/** grpc.health.v1.Health: its services are "live" and "ready". */
function grpcServer(container: FakeContainer): Accept {
  return (client) => {
    const frames = new FrameReader();
    let isGreeted = false;
    return (bytes) => {
      const rest = isGreeted ? bytes : bytes.subarray(PREFACE.length);
      if (!isGreeted) client.receive(frameBytes(SETTINGS, Buffer.alloc(0)));
      isGreeted = true;
      for (const { type, payload } of frames.read(rest)) {
        if (type !== DATA) continue;
        const service = payload.subarray(MESSAGE_BYTES).toString();
        kernel.after(kernel.world, kernel.random.between(LEAST_MS, MOST_MS), () => {
          const isGood = service === "ready" ? isReady(container) : isHealthy(container);
          client.receive(frameBytes(HEADERS, { ":status": "200" }));
          client.receive(frameBytes(DATA, Buffer.from([0, 0, 0, 0, 2, 8, isGood ? SERVING : NOT_SERVING])));
          client.receive(frameBytes(HEADERS, { "grpc-status": "0" }, true));
        });
      }
    };
  };
}

function httpServer(container: FakeContainer): Accept {
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
