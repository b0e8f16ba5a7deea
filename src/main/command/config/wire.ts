// The configuration as Go's encoder writes upstream's struct: a zero value is left out, unless its field is a pointer
// or has no `omitempty`.
// Source: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/

import type { FieldPath } from "../fields/fields.js";
import { isZero } from "./field-values.js";
import { FIELD_SHAPES } from "./shape.js";
import { at, withoutNodes, type MapNode } from "./tree.js";

/** Pointers: a zero value is one that somebody gave. test/facts/config-fields.tsv has the types. @internal */
export const POINTERS: ReadonlySet<FieldPath> = new Set([
  ...(["enableServer", "authentication.webhook.enabled", "authentication.anonymous.enabled"] as const),
  ...(["registryPullQPS", "eventRecordQPS", "enableDebuggingHandlers", "healthzPort", "oomScoreAdj"] as const),
  ...(["imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "cgroupsPerQOS", "singleProcessOOMKill"] as const),
  ...(["podPidsLimit", "resolvConf", "cpuCFSQuota", "cpuCFSQuotaPeriod", "nodeStatusMaxImages", "kubeAPIQPS"] as const),
  ...(["serializeImagePulls", "maxParallelImagePulls", "mergeDefaultEvictionSettings"] as const),
  ...(["enableControllerAttachDetach", "makeIPTablesUtilChains", "iptablesMasqueradeBit", "iptablesDropBit"] as const),
  ...(["failSwapOn", "containerLogMaxFiles", "containerLogMaxWorkers", "containerLogMonitorInterval"] as const),
  ...(["enableSystemLogHandler", "enableSystemLogQuery", "crashLoopBackOff.maxContainerRestartPeriod"] as const),
  ...(["enableProfilingHandler", "enableDebugFlagsHandler", "seccompDefault", "memoryThrottlingFactor"] as const),
  ...(["registerNode", "tracing.endpoint", "tracing.samplingRatePerMillion", "failCgroupV1"] as const),
  ...(["localStorageCapacityIsolation", "userNamespaces.idsPerPod"] as const),
]);
/** Always written. */
const KEPT: ReadonlySet<FieldPath> = new Set([
  "containerRuntimeEndpoint",
  "logging.flushFrequency",
  "logging.verbosity",
]);
/** Upstream derives them after it has published its configuration. */
const LATER: readonly FieldPath[] = ["cgroupRoot"];

/** Without the nodes that Go does not write. */
export function wireTree(tree: MapNode): MapNode {
  const unwritten = [...FIELD_SHAPES.keys()].filter((path) => !isWritten(tree, path));
  return withoutNodes(tree, unwritten);
}

function isWritten(tree: MapNode, path: FieldPath): boolean {
  const node = at(tree, path);
  const shape = FIELD_SHAPES.get(path);
  if (node === undefined || shape === undefined) return false;
  if (LATER.includes(path) && node.origin.kind === "derived") return false;
  if (POINTERS.has(path) || KEPT.has(path)) return true;
  if (node.kind === "list") return node.items.length > 0;
  if (node.kind === "map") return node.entries.size > 0;
  // Durations are structs, and structs are always written.
  const isStruct = shape.kind === "scalar" && ["duration", "durationOrNanos", "quantity"].includes(shape.type);
  return isStruct || !isZero(shape, node);
}
