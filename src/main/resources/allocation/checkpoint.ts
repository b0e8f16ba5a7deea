// The form of allocated_pods_state and actuated_pods_state, upstream's, so that either kubelet reads what the other left:
// {"data": "<JSON text>", "checksum": N}, where the checksum is taken of the text.
import { fnv32 } from "../../../shared/hash/fnv32.js";
import type { PodResources } from "../../model/pod-resources.js";

export interface Checkpoint {
  data: string;
  checksum: number;
}

/** By pod UID. */
export type ResourceEntries = ReadonlyMap<string, PodResources>;

export function encodeCheckpoint(entries: ResourceEntries): Checkpoint {
  const pods = [...entries].map(([uid, { containers, pod }]) => [
    uid,
    { ContainerResources: containers, ...(pod !== undefined && { PodLevelResources: pod }) },
  ]);
  const data = JSON.stringify(pods.length === 0 ? {} : { entries: Object.fromEntries(pods) as unknown });
  return { data, checksum: checksumOf(data) };
}

/** Throws on what is no checkpoint, or not the one that was written. */
export function decodeCheckpoint(value: unknown): Map<string, PodResources> {
  if (!isRecord(value) || typeof value["data"] !== "string") throw new Error("not a checkpoint of pod resources");
  const { data, checksum } = value;
  if (checksum !== checksumOf(data)) throw new Error("its checksum does not match its data");
  const content: unknown = JSON.parse(data);
  const entries = isRecord(content) ? (content["entries"] ?? {}) : undefined;
  if (!isRecord(entries)) throw new Error("its data holds no entries");
  return new Map(Object.entries(entries).map(([uid, entry]) => [uid, decodeEntry(uid, entry)]));
}

function decodeEntry(uid: string, entry: unknown): PodResources {
  const given = isRecord(entry) ? (entry["ContainerResources"] ?? {}) : undefined;
  if (!isRecord(entry) || !isRecord(given)) throw new Error(`the entry of pod ${uid} is incomplete`);
  const containers = Object.fromEntries(
    Object.entries(given).map(([name, resources]) => [name, decodeRequirements(uid, resources)]),
  );
  const pod = entry["PodLevelResources"];
  return { containers, ...(pod != null && { pod: decodeRequirements(uid, pod) }) };
}

function decodeRequirements(uid: string, value: unknown): PodResources["containers"][string] {
  const list = (name: string): Record<string, string> | undefined => {
    const given = isRecord(value) ? value[name] : null;
    if (given == null) return undefined;
    if (!isRecord(given)) throw new Error(`${name} of pod ${uid} are not a list`);
    return Object.fromEntries(Object.entries(given).map(([resource, quantity]) => [resource, String(quantity)]));
  };
  const [limits, requests] = [list("limits"), list("requests")];
  return { ...(limits && { limits }), ...(requests && { requests }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** 32-bit FNV-1a over Go's debug print of the text, which is what upstream hashes. */
function checksumOf(data: string): number {
  return fnv32(`(string)${data}`);
}
