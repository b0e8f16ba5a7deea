// A driver's node service, as typed calls. Loading this file loads gRPC.
// Invariant: no call lasts longer than two minutes; every call is measured.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { PluginCallError, STATUS, statusName } from "../../../shared/kubernetes/plugins/call-error.js";
import {
  PluginConnection,
  SMALL_RESPONSE_BYTES,
  type UnaryMethod,
} from "../../../shared/kubernetes/plugins/connection.js";
import {
  NodeExpandVolumeRequest,
  NodeGetVolumeStatsRequest,
  NodePublishVolumeRequest,
  NodeService,
  type NodeServiceCapability_RPC_Type as Rpc,
  NodeStageVolumeRequest,
} from "../../../shared/kubernetes/plugins/gen/csi.v1.js";
import type { CsiMetrics } from "./metrics.js";
import type { CsiNode } from "./node-port.js";

/** Deadline of every rpc; upstream's value. */
const CALL_TIMEOUT_MS = 120_000;

export interface CsiNodeOptions {
  driver: string;
  endpoint: string;
  clock: Clock;
  metrics: CsiMetrics;
  /** For tests. */
  timeoutMs?: number;
}

export function connectCsiNode(options: CsiNodeOptions): CsiNode {
  const { driver, endpoint, clock, metrics, timeoutMs = CALL_TIMEOUT_MS } = options;
  const connection = new PluginConnection(endpoint, clock);

  async function call<Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    signal: AbortSignal,
    maxBytes?: number,
  ): Promise<Response> {
    const startedAt = clock.monotonic();
    let status = "OK";
    try {
      return await connection.call(method, request, omitUndefined({ timeoutMs, signal, maxBytes }));
    } catch (error) {
      status = error instanceof PluginCallError ? statusName(error.code) : "Unknown";
      throw error;
    } finally {
      metrics.call(driver, method.path, status, clock.monotonic() - startedAt);
    }
  }

  let capabilities: ReadonlySet<Rpc> | undefined;
  return {
    async info(signal) {
      const info = await call(NodeService.nodeGetInfo, {}, signal, SMALL_RESPONSE_BYTES);
      const topology = info.accessibleTopology?.segments ?? {};
      return { nodeId: info.nodeId, maxVolumes: Number(info.maxVolumesPerNode), topology };
    },
    async capabilities(signal) {
      if (capabilities !== undefined) return capabilities;
      try {
        const answer = await call(NodeService.nodeGetCapabilities, {}, signal);
        capabilities = new Set(answer.capabilities.flatMap(({ rpc }) => (rpc === undefined ? [] : [rpc.type])));
      } catch (error) {
        // A driver without capabilities offers none.
        if (!(error instanceof PluginCallError) || error.code !== STATUS.UNIMPLEMENTED) throw error;
        capabilities = new Set();
      }
      return capabilities;
    },
    async stage(request, signal) {
      await call(NodeService.nodeStageVolume, NodeStageVolumeRequest.fromPartial(request), signal);
    },
    async unstage(request, signal) {
      await call(NodeService.nodeUnstageVolume, request, signal);
    },
    async publish(request, signal) {
      await call(NodeService.nodePublishVolume, NodePublishVolumeRequest.fromPartial(request), signal);
    },
    async unpublish(request, signal) {
      await call(NodeService.nodeUnpublishVolume, request, signal);
    },
    async stats(request, signal) {
      const exact = NodeGetVolumeStatsRequest.fromPartial(request);
      return call(NodeService.nodeGetVolumeStats, exact, signal, SMALL_RESPONSE_BYTES);
    },
    async expand(request, signal) {
      return call(NodeService.nodeExpandVolume, NodeExpandVolumeRequest.fromPartial(request), signal);
    },
    close: () => connection[Symbol.dispose](),
  };
}
