// Fields without omitempty. A server in Go always writes them, as null or zero, whether they were sent or not.

import {
  fieldsAt,
  isFields,
  listAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields } from "../fields.js";
import { canonicalAmounts, canonicalResources } from "./quantities.js";

function nullIfAbsent(target: Fields, ...fields: readonly string[]): void {
  for (const field of fields) target[field] ??= null;
}

/** Times are kept in whole seconds, in UTC, whatever was written. */
function wholeSeconds(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) wholeSeconds(item);
  if (!isFields(value)) return;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "string" && /(Time|Timestamp|At)$/.test(field) && FRACTION.test(inner)) {
      value[field] = `${new Date(inner).toISOString().slice(0, 19)}Z`;
    } else wholeSeconds(inner);
  }
}

const FRACTION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+Z|(\.\d+)?[+-]\d\d:\d\d)$/;

export function podShape({ spec, status }: ApiObject): void {
  wholeSeconds(status);
  for (const volume of listAt(spec, "volumes")) {
    const template = fieldsAt(volume, "ephemeral")["volumeClaimTemplate"];
    if (isFields(template)) ensureFields(template, "metadata");
  }
  for (const condition of listAt(status, "conditions")) nullIfAbsent(condition, "lastProbeTime", "lastTransitionTime");
  for (const list of ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"]) {
    for (const container of listAt(status, list)) containerStatusShape(container);
  }
}

function containerStatusShape(container: Fields): void {
  for (const field of ["image", "imageID"]) container[field] ??= "";
  canonicalAmounts(container["allocatedResources"]);
  canonicalResources(fieldsAt(container, "resources"));
  container["ready"] ??= false;
  container["restartCount"] ??= 0;
  for (const field of ["state", "lastState"]) {
    const state = ensureFields(container, field);
    if (isFields(state["running"])) nullIfAbsent(state["running"], "startedAt");
    const terminated = state["terminated"];
    if (!isFields(terminated)) continue;
    terminated["exitCode"] ??= 0;
    nullIfAbsent(terminated, "startedAt", "finishedAt");
  }
}

const NODE_INFO = [
  "machineID",
  "systemUUID",
  "bootID",
  "kernelVersion",
  "osImage",
  "containerRuntimeVersion",
  "kubeletVersion",
  "kubeProxyVersion",
  "operatingSystem",
  "architecture",
];

export function nodeShape(node: ApiObject): void {
  const status = ensureFields(node, "status");
  wholeSeconds(status);
  for (const condition of listAt(status, "conditions")) {
    nullIfAbsent(condition, "lastHeartbeatTime", "lastTransitionTime");
  }
  const endpoint = ensureFields(ensureFields(status, "daemonEndpoints"), "kubeletEndpoint");
  endpoint["Port"] ??= 0;
  const info = ensureFields(status, "nodeInfo");
  for (const field of NODE_INFO) info[field] ??= "";
}

export function coreEventShape(event: ApiObject): void {
  nullIfAbsent(event, "eventTime", "firstTimestamp", "lastTimestamp");
  for (const field of ["reportingComponent", "reportingInstance"]) event[field] ??= "";
  ensureFields(event, "source");
  ensureFields(event, "involvedObject");
}
