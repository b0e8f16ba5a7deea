// A driver's node service, as the volume code uses it. Types only: nothing of gRPC is loaded for them.

import type {
  DeepPartial,
  NodeExpandVolumeRequest,
  NodeExpandVolumeResponse,
  NodeGetVolumeStatsRequest,
  NodeGetVolumeStatsResponse,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
} from "../../../shared/kubernetes/plugins/gen/csi.v1.js";

/** Capabilities of a node plugin (NodeServiceCapability_RPC_Type). */
export const CAPABILITY = {
  STAGE_UNSTAGE_VOLUME: 1,
  GET_VOLUME_STATS: 2,
  EXPAND_VOLUME: 3,
  VOLUME_CONDITION: 4,
  SINGLE_NODE_MULTI_WRITER: 5,
  VOLUME_MOUNT_GROUP: 6,
} as const;

export interface CsiNodeInfo {
  nodeId: string;
  /** 0: no limit. */
  maxVolumes: number;
  topology: Readonly<Record<string, string>>;
}

/** All reject with PluginCallError. */
export interface CsiNode {
  info(signal: AbortSignal): Promise<CsiNodeInfo>;
  /** Asked once per registration. */
  capabilities(signal: AbortSignal): Promise<ReadonlySet<number>>;
  stage(request: DeepPartial<NodeStageVolumeRequest>, signal: AbortSignal): Promise<void>;
  unstage(request: { volumeId: string; stagingTargetPath: string }, signal: AbortSignal): Promise<void>;
  publish(request: DeepPartial<NodePublishVolumeRequest>, signal: AbortSignal): Promise<void>;
  unpublish(request: { volumeId: string; targetPath: string }, signal: AbortSignal): Promise<void>;
  stats(request: DeepPartial<NodeGetVolumeStatsRequest>, signal: AbortSignal): Promise<NodeGetVolumeStatsResponse>;
  expand(request: DeepPartial<NodeExpandVolumeRequest>, signal: AbortSignal): Promise<NodeExpandVolumeResponse>;
  close(): void;
}
