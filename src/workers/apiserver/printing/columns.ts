// The columns of the resources that people list. Others have their name and time of creation, as resources without
// columns of their own.

import { fieldsAt, listAt, textAt, type ApiObject, type Fields } from "../objects/object.js";
import type { Resource } from "../objects/resource.js";
import { ageOf } from "./age.js";
import { podSummary } from "./pod-summary.js";

export interface Column {
  name: string;
  /** Default string. */
  type?: "string" | "integer" | "date";
  /** Shown by `-o wide` only. */
  wide?: boolean;
  cell: (object: ApiObject, now: number) => string | number;
}

const NONE = "<none>";
const NAME: Column = { name: "Name", cell: ({ metadata }) => metadata.name };
const AGE: Column = { name: "Age", cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now) };

const text =
  (...path: readonly string[]) =>
  (object: Fields): string => {
    const at = path.slice(0, -1).reduce(fieldsAt, object);
    return textAt(at, path.at(-1) ?? "") ?? NONE;
  };
const size = (object: ApiObject, ...fields: readonly string[]): number =>
  fields.reduce((sum, field) => sum + Object.keys(fieldsAt(object, field)).length, 0);

const PODS: readonly Column[] = [
  NAME,
  { name: "Ready", cell: (pod, now) => podSummary(pod, now).ready },
  { name: "Status", cell: (pod, now) => podSummary(pod, now).reason },
  { name: "Restarts", cell: (pod, now) => podSummary(pod, now).restarts },
  AGE,
  { name: "IP", wide: true, cell: text("status", "podIP") },
  { name: "Node", wide: true, cell: text("spec", "nodeName") },
  { name: "Nominated Node", wide: true, cell: text("status", "nominatedNodeName") },
  { name: "Readiness Gates", wide: true, cell: readinessGates },
];

function readinessGates(pod: ApiObject): string {
  const gates = listAt(pod.spec, "readinessGates").map(({ conditionType }) => conditionType);
  if (gates.length === 0) return NONE;
  const conditions = listAt(pod.status, "conditions");
  const met = gates.filter((gate) => conditions.some(({ type, status }) => type === gate && status === "True"));
  return `${met.length}/${gates.length}`;
}

const ROLE = "node-role.kubernetes.io/";
const address =
  (wanted: string) =>
  (node: ApiObject): string =>
    textAt(
      listAt(node.status, "addresses").find(({ type }) => type === wanted),
      "address",
    ) ?? NONE;

const NODES: readonly Column[] = [
  NAME,
  { name: "Status", cell: nodeState },
  { name: "Roles", cell: nodeRoles },
  AGE,
  { name: "Version", cell: text("status", "nodeInfo", "kubeletVersion") },
  { name: "Internal-IP", wide: true, cell: address("InternalIP") },
  { name: "External-IP", wide: true, cell: address("ExternalIP") },
  { name: "OS-Image", wide: true, cell: text("status", "nodeInfo", "osImage") },
  { name: "Kernel-Version", wide: true, cell: text("status", "nodeInfo", "kernelVersion") },
  { name: "Container-Runtime", wide: true, cell: text("status", "nodeInfo", "containerRuntimeVersion") },
];

function nodeState(node: ApiObject): string {
  const ready = listAt(node.status, "conditions").find(({ type }) => type === "Ready");
  const state = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  return node.spec?.["unschedulable"] === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles({ metadata }: ApiObject): string {
  const roles = Object.keys(metadata.labels ?? {})
    .filter((label) => label.startsWith(ROLE))
    .map((label) => label.slice(ROLE.length));
  return roles.length === 0 ? NONE : roles.sort().join();
}

const EVENTS: readonly Column[] = [
  { name: "Last Seen", cell: (event, now) => ageOf(lastSeen(event), now) },
  { name: "Type", cell: text("type") },
  { name: "Reason", cell: text("reason") },
  { name: "Object", cell: involved },
  { name: "Subobject", wide: true, cell: (event) => textAt(fieldsAt(event, "involvedObject"), "fieldPath") ?? "" },
  { name: "Source", wide: true, cell: text("source", "component") },
  { name: "Message", cell: (event) => (textAt(event, "message") ?? "").trim() },
  { name: "First Seen", wide: true, cell: (event, now) => ageOf(event["firstTimestamp"] ?? event["eventTime"], now) },
  { name: "Count", wide: true, cell: (event) => Number(event["count"] ?? 1) },
  { name: "Name", wide: true, cell: ({ metadata }) => metadata.name },
];

function lastSeen(event: ApiObject): unknown {
  return fieldsAt(event, "series")["lastObservedTime"] ?? event["lastTimestamp"] ?? event["eventTime"];
}

function involved(event: ApiObject): string {
  const { kind, name } = fieldsAt(event, "involvedObject");
  return `${String(kind).toLowerCase()}/${String(name)}`;
}

const MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function modes(at: Fields | undefined): string {
  const list = at?.["accessModes"];
  return Array.isArray(list) ? list.map((mode) => MODES[String(mode)] ?? String(mode)).join() : "";
}

const VOLUME_CLASS: readonly Column[] = [
  { name: "StorageClass", cell: ({ spec }) => textAt(spec, "storageClassName") ?? "" },
  { name: "VolumeAttributesClass", cell: ({ spec }) => textAt(spec, "volumeAttributesClassName") ?? "<unset>" },
];
const VOLUME_MODE: Column = { name: "VolumeMode", wide: true, cell: text("spec", "volumeMode") };

/** One that waits for its users or finalizers is shown as what it does. */
const volumeState = (object: ApiObject): string =>
  object.metadata.deletionTimestamp === undefined ? text("status", "phase")(object) : "Terminating";

const CLAIMS: readonly Column[] = [
  NAME,
  { name: "Status", cell: volumeState },
  { name: "Volume", cell: ({ spec }) => textAt(spec, "volumeName") ?? "" },
  { name: "Capacity", cell: ({ status }) => textAt(fieldsAt(status, "capacity"), "storage") ?? "" },
  { name: "Access Modes", cell: ({ status }) => modes(status) },
  ...VOLUME_CLASS,
  AGE,
  VOLUME_MODE,
];

const VOLUMES: readonly Column[] = [
  NAME,
  { name: "Capacity", cell: ({ spec }) => textAt(fieldsAt(spec, "capacity"), "storage") ?? "" },
  { name: "Access Modes", cell: ({ spec }) => modes(spec) },
  { name: "Reclaim Policy", cell: text("spec", "persistentVolumeReclaimPolicy") },
  { name: "Status", cell: volumeState },
  {
    name: "Claim",
    cell: ({ spec }) => {
      const { namespace, name } = fieldsAt(spec, "claimRef");
      return typeof name === "string" ? `${String(namespace)}/${name}` : "";
    },
  },
  ...VOLUME_CLASS,
  { name: "Reason", cell: ({ status }) => textAt(status, "reason") ?? "" },
  AGE,
  VOLUME_MODE,
];

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  pods: PODS,
  nodes: NODES,
  events: EVENTS,
  namespaces: [NAME, { name: "Status", cell: text("status", "phase") }, AGE],
  configmaps: [NAME, { name: "Data", cell: (map) => size(map, "data", "binaryData") }, AGE],
  secrets: [NAME, { name: "Type", cell: text("type") }, { name: "Data", cell: (one) => size(one, "data") }, AGE],
  serviceaccounts: [NAME, AGE],
  persistentvolumeclaims: CLAIMS,
  persistentvolumes: VOLUMES,
  "leases.coordination.k8s.io": [NAME, { name: "Holder", cell: text("spec", "holderIdentity") }, AGE],
};

const OTHERS: readonly Column[] = [
  NAME,
  { name: "Created At", type: "date", cell: ({ metadata }) => metadata.creationTimestamp ?? "" },
];

export function columnsOf({ key }: Resource): readonly Column[] {
  return COLUMNS[key] ?? OTHERS;
}
