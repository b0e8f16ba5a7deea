// The pod resources service at <root-dir>/pod-resources/kubelet.sock, v1 and v1alpha1. Loaded when the kubelet has
// started.

import { Server, status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import {
  PodResourcesListerService as ListerService,
  type GetPodResourcesRequest,
} from "../../../shared/kubernetes/plugins/gen/podresources.v1.js";
import { PodResourcesListerService as AlphaListerService } from "../../../shared/kubernetes/plugins/gen/podresources.v1alpha1.js";
import { CallRate } from "../call-rate.js";
import { listenOnSocket } from "../local-socket.js";
import type { PodResourcesLister } from "./lister.js";
import type { PodResourcesCall, PodResourcesMetrics, PodResourcesVersion } from "./metrics.js";

export interface PodResourcesServerOptions {
  /** <root-dir>/pod-resources */
  directory: string;
  lister: PodResourcesLister;
  metrics: PodResourcesMetrics;
  clock: Clock;
}

export interface PodResourcesServer {
  stop(): Promise<void>;
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
  const socket = await listenOnSocket(server, directory, "kubelet.sock");
  return {
    stop() {
      server.forceShutdown();
      return socket.remove();
    },
  };
}
