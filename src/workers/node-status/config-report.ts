// The node's configurations in its Node object: the condition KubeletConfigOk and the annotation with the status. Pure.
// Reasons and messages are upstream's, of Kubernetes 1.10; later versions have only status.config, which newer API
// servers drop.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import {
  configMapLink,
  CONFIG_STATUS_ANNOTATION,
  type ConfigMapReference,
  type NodeConfigReport,
} from "../../shared/kubernetes/api/config-source.js";
import type { Node, NodeCondition } from "../../shared/kubernetes/api/node.js";
import { without } from "./registration.js";

const TYPE = "KubeletConfigOk";
/** Most characters of an error in the condition. The kubelet's log has the whole text. */
const MAX_ERROR_CHARACTERS = 4096;

/**
 * The Node with the report in it; without dynamic configuration (undefined), with nothing that an earlier kubelet left.
 */
export function withConfigReport(node: Node, report: NodeConfigReport | undefined, now: string): Node {
  const { metadata, status = {} } = node;
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === TYPE);
  const others = without(metadata.annotations, CONFIG_STATUS_ANNOTATION);
  if (report === undefined) {
    if (before === undefined && metadata.annotations?.[CONFIG_STATUS_ANNOTATION] === undefined) return node;
    const kept = conditions.filter((condition) => condition !== before);
    return { ...node, metadata: { ...metadata, annotations: others }, status: { ...status, conditions: kept } };
  }
  const condition = conditionOf(report, before, now);
  const annotations = { ...others, [CONFIG_STATUS_ANNOTATION]: statusText(report) };
  const next =
    before === undefined ? [...conditions, condition] : conditions.map((old) => (old === before ? condition : old));
  return { ...node, metadata: { ...metadata, annotations }, status: { ...status, conditions: next } };
}

function conditionOf(report: NodeConfigReport, before: NodeCondition | undefined, now: string): NodeCondition {
  const { active, error } = report;
  const status = error === undefined ? "True" : "False";
  const which = error !== undefined && report.activeIsGood ? "last-known-good" : "current";
  const using = `using ${which}: ${active === undefined ? "local" : configMapLink(active)}`;
  return {
    ...before,
    type: TYPE,
    status,
    reason: reasonOf(report),
    message: error === undefined ? using : `${using}; ${shortened(error)}`,
    lastHeartbeatTime: now,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? now) : now,
  };
}

function reasonOf({ assigned, error }: NodeConfigReport): string {
  if (error !== undefined) return "failed to sync, see the message";
  return assigned === undefined
    ? "when the config source is nil, the Kubelet uses its local config"
    : "passing all checks";
}

function statusText({ assigned, active, lastKnownGood, error }: NodeConfigReport): string {
  const source = (name: string, configMap: ConfigMapReference | undefined): object =>
    configMap === undefined ? {} : { [name]: { configMap } };
  return JSON.stringify(
    omitUndefined({
      ...source("assigned", assigned),
      ...source("active", active),
      ...source("lastKnownGood", lastKnownGood),
      error: error !== undefined ? shortened(error) : undefined,
    }),
  );
}

function shortened(error: string): string {
  return error.length <= MAX_ERROR_CHARACTERS ? error : `${error.slice(0, MAX_ERROR_CHARACTERS)}…`;
}
