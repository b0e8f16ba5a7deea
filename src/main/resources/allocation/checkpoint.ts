// Upstream's format of allocated_pods_state and actuated_pods_state, so that either kubelet reads the other's files. It
// is {"data": "<JSON text>", "checksum": N}, with the checksum of the text.

import { fnv32 } from "../../../shared/base/hash/fnv32.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import type { ResourceRequirements } from "../../../shared/kubernetes/api/pod.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import type { PodResources } from "../../model/pod-resources.js";

/** The resources last set in the runtime for one pod. */
export interface Actuated {
  readonly containers: Record<string, ResourceRequirements>;
  pod?: ResourceRequirements;
}

interface Checkpoint {
  data: string;
  checksum: number;
}

type ResourceEntries = ReadonlyMap<PodUid, PodResources>;

export function encodeCheckpoint(entries: ResourceEntries): Checkpoint {
  const pods = [...entries].map(([uid, { containers, pod }]) => [
    uid,
    omitUndefined({ ContainerResources: containers, PodLevelResources: pod }),
  ]);
  const data = JSON.stringify(pods.length === 0 ? {} : { entries: Object.fromEntries(pods) as unknown });
  return { data, checksum: checksumOf(data) };
}

/** Throws if the value is not a checkpoint, or if its checksum does not match. */
export function decodeCheckpoint(value: unknown): Map<PodUid, Actuated> {
  if (!isRecord(value) || typeof value["data"] !== "string") throw new Error("not a checkpoint of pod resources");
  const { data, checksum } = value;
  if (checksum !== checksumOf(data)) throw new Error("its checksum does not match its data");
  const content: unknown = JSON.parse(data);
  const entries = isRecord(content) ? (content["entries"] ?? {}) : undefined;
  if (!isRecord(entries)) throw new Error("its data holds no entries");
  return new Map(Object.entries(entries).map(([uid, entry]) => [podUid(uid), decodeEntry(uid, entry)]));
}

function decodeEntry(uid: string, entry: unknown): Actuated {
  const given = isRecord(entry) ? (entry["ContainerResources"] ?? {}) : undefined;
  if (!isRecord(entry) || !isRecord(given)) throw new Error(`the entry of pod ${uid} is incomplete`);
  const containers = Object.fromEntries(
    Object.entries(given).map(([name, resources]) => [name, decodeRequirements(uid, resources)]),
  );
  const pod = entry["PodLevelResources"];
  return omitUndefined({ containers, pod: pod != null ? decodeRequirements(uid, pod) : undefined });
}

function decodeRequirements(uid: string, value: unknown): PodResources["containers"][string] {
  const list = (name: string): Record<string, string> | undefined => {
    const given = isRecord(value) ? value[name] : null;
    if (given == null) return undefined;
    if (!isRecord(given)) throw new Error(`${name} of pod ${uid} are not a list`);
    return Object.fromEntries(Object.entries(given).map(([resource, quantity]) => [resource, String(quantity)]));
  };
  const [limits, requests] = [list("limits"), list("requests")];
  return omitUndefined({ limits: limits ? limits : undefined, requests: requests ? requests : undefined });
}

/** 32-bit FNV-1a over Go's debug print of the text, which is what upstream hashes. */
function checksumOf(data: string): number {
  return fnv32(`(string)${data}`);
}
