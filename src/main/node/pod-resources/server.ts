// The pod resources service at <root-dir>/pod-resources/kubelet.sock, v1 and v1alpha1. Loaded when the kubelet has started.
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { mkdir, rm } from "node:fs/promises";
import type { Clock } from "../../../shared/clock/clock.js";
import type { PodResourcesCall, PodResourcesMetrics, PodResourcesVersion } from "./metrics.js";
import {
  PodResourcesListerService as ListerService,
  type GetPodResourcesRequest,
} from "../../../shared/plugins/gen/podresources.v1.js";
import { PodResourcesListerService as AlphaListerService } from "../../../shared/plugins/gen/podresources.v1alpha1.js";
import type { PodResourcesLister } from "./lister.js";
import { messageOf } from "../../../shared/errors/thrown.js";
export interface PodResourcesServerOptions {
  /** <root-dir>/pod-resources */
  directory: string;
  lister: PodResourcesLister;
  metrics: PodResourcesMetrics;
  clock: Clock;
}

export interface PodResourcesServer {
  stop(): void;
}

/** Rejects when the socket can't be made. */
export async function servePodResources(options: PodResourcesServerOptions): Promise<PodResourcesServer> {
  const { directory, lister, metrics, clock } = options;
  const rate = new CallRate(clock);
  const handle =
    <Request, Response>(version: PodResourcesVersion, name: PodResourcesCall, work: (request: Request) => Response) =>
    ({ request }: ServerUnaryCall<Request, Response>, answer: sendUnaryData<Response>): void => {
      if (!rate.allow()) {
        answer({ code: status.RESOURCE_EXHAUSTED, details: "rejected by rate limit" });
        return;
      }
      metrics.requested(version, name);
      try {
        answer(null, work(request));
      } catch (error) {
        metrics.failed(version, name);
        answer({ code: status.UNKNOWN, details: messageOf(error) });
      }
    };
  const server = new Server();
  server.addService(ListerService, {
    list: handle("v1", "list", () => ({ podResources: lister.list() })),
    getAllocatableResources: handle("v1", "get_allocatable", () => lister.allocatable()),
    get: handle("v1", "get", ({ podNamespace, podName }: GetPodResourcesRequest) => ({
      podResources: lister.get(podNamespace, podName),
    })),
  });
  server.addService(AlphaListerService, {
    list: handle("v1alpha1", "list", () => ({ podResources: lister.listAlpha() })),
  });
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const socket = `${directory}/kubelet.sock`;
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return { stop: () => server.forceShutdown() };
}

// Rate limit for calls: a token bucket. A monitoring agent that calls without pause must not delay the pods on the main
// thread.
/** Upstream's rate limit. */
const CALLS_PER_SECOND = 100;
const BURST = 10;

class CallRate {
  private tokens = BURST;
  private filledAt: number;

  constructor(private readonly clock: Pick<Clock, "monotonic">) {
    this.filledAt = clock.monotonic();
  }

  /** @returns false when the call is to be refused */
  allow(): boolean {
    const now = this.clock.monotonic();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.filledAt) / 1000) * CALLS_PER_SECOND);
    this.filledAt = now;
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }
}
