// Upstream's format of kubelet_internal_checkpoint, so that either kubelet reads the other's file: {"Data":
// {"PodDeviceEntries": […], "RegisteredDevices": {…}}, "Checksum": N}. The checksum is 32-bit FNV-1a over Go's debug
// print of Data (types and field names included), which goPrint() rebuilds.

import { Fnv32 } from "../../../shared/base/hash/fnv32.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";

export interface CheckpointEntry {
  PodUID: PodUid;
  ContainerName: string;
  ResourceName: string;
  /** NUMA node, "-1" for none, to device IDs. */
  DeviceIDs: Record<string, string[] | null>;
  /** A ContainerAllocateResponse of the device plugin API, base64. */
  AllocResp: string;
}

export interface CheckpointData {
  PodDeviceEntries: CheckpointEntry[] | null;
  /** Resource to its healthy devices. Go's nil lists are null in JSON, and print in their own way. */
  RegisteredDevices: Record<string, string[] | null>;
}

/** In pieces, each in the loop's turn: the lists of a node may have megabytes. `data` must not change meanwhile. */
export async function encodeCheckpoint(data: CheckpointData, loop: { turn(): Promise<void> }): Promise<string> {
  const checksum = new Fnv32();
  for (const piece of goPrint(data)) {
    await loop.turn();
    checksum.add(piece);
  }
  const parts: string[] = [];
  for (const piece of jsonOf(data)) {
    await loop.turn();
    parts.push(piece);
  }
  return `{"Data":${parts.join("")},"Checksum":${checksum.value}}`;
}

/** @throws if the value is not a checkpoint, or if its checksum does not match */
export function decodeCheckpoint(value: unknown): CheckpointData {
  if (!isRecord(value) || !isRecord(value["Data"])) throw new Error("not a checkpoint of devices");
  const { PodDeviceEntries: entries, RegisteredDevices: registered } = value["Data"];
  const data: CheckpointData = {
    PodDeviceEntries: entries == null ? null : asList(entries, "PodDeviceEntries").map(entryOf),
    RegisteredDevices: listsOf(registered ?? {}, "RegisteredDevices"),
  };
  if (value["Checksum"] !== checksumOf(data)) throw new Error("its checksum does not match its data");
  return data;
}

function checksumOf(data: CheckpointData): number {
  const checksum = new Fnv32();
  for (const piece of goPrint(data)) checksum.add(piece);
  return checksum.value;
}

/** Items, or bytes, of one piece. */
const PIECE = 1000;

function* goPrint({ PodDeviceEntries: entries, RegisteredDevices: registered }: CheckpointData): Generator<string> {
  yield "(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)";
  if (entries === null) yield "<nil>";
  else yield* bracketed(entries, printEntry);
  yield " RegisteredDevices:(map[string][]string)";
  yield* printLists(registered, byText);
  yield "}";
}

function* printEntry(entry: CheckpointEntry): Generator<string> {
  yield `{PodUID:(string)${entry.PodUID} ContainerName:(string)${entry.ContainerName} `;
  yield `ResourceName:(string)${entry.ResourceName} DeviceIDs:(checkpoint.DevicesPerNUMA)`;
  yield* printLists(entry.DeviceIDs, (a, b) => Number(a) - Number(b));
  yield " AllocResp:([]uint8)";
  yield* printItems(Buffer.from(entry.AllocResp, "base64"));
  yield "}";
}

function* printLists(
  lists: Readonly<Record<string, string[] | null>>,
  order: (a: string, b: string) => number,
): Generator<string> {
  yield "map";
  yield* bracketed(Object.keys(lists).sort(order), function* (key) {
    yield `${key}:`;
    const list = lists[key];
    if (list == null) yield "<nil>";
    else yield* printItems(list);
  });
}

function* bracketed<T>(items: readonly T[], print: (item: T) => Generator<string>): Generator<string> {
  yield "[";
  for (const [at, item] of items.entries()) {
    if (at > 0) yield " ";
    yield* print(item);
  }
  yield "]";
}

function* printItems(items: readonly string[] | Uint8Array): Generator<string> {
  yield "[";
  for (let at = 0; at < items.length; at += PIECE) {
    yield `${at === 0 ? "" : " "}${items.slice(at, at + PIECE).join(" ")}`;
  }
  yield "]";
}

/** As JSON.stringify writes it. */
function* jsonOf({ PodDeviceEntries: entries, RegisteredDevices: registered }: CheckpointData): Generator<string> {
  yield '{"PodDeviceEntries":';
  if (entries === null) yield "null";
  else {
    for (const [at, { DeviceIDs: ids, ...rest }] of entries.entries()) {
      const { AllocResp, ...names } = rest;
      yield `${at === 0 ? "[" : ","}${JSON.stringify(names).slice(0, -1)},"DeviceIDs":`;
      yield* jsonLists(ids);
      yield `,"AllocResp":${JSON.stringify(AllocResp)}}`;
    }
    yield entries.length === 0 ? "[]" : "]";
  }
  yield ',"RegisteredDevices":';
  yield* jsonLists(registered);
  yield "}";
}

function* jsonLists(lists: Readonly<Record<string, string[] | null>>): Generator<string> {
  yield "{";
  for (const [at, [key, list]] of Object.entries(lists).entries()) {
    yield `${at === 0 ? "" : ","}${JSON.stringify(key)}:${list === null ? "null" : "["}`;
    if (list === null) continue;
    for (let from = 0; from < list.length; from += PIECE) {
      yield `${from === 0 ? "" : ","}${JSON.stringify(list.slice(from, from + PIECE)).slice(1, -1)}`;
    }
    yield "]";
  }
  yield "}";
}

/** As Go compares: by bytes. */
function byText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function entryOf(value: unknown): CheckpointEntry {
  const text = (name: keyof CheckpointEntry): string => {
    const field = isRecord(value) ? value[name] : undefined;
    if (typeof field !== "string") throw new Error(`an entry has no ${name}`);
    return field;
  };
  const ids = listsOf(isRecord(value) ? value["DeviceIDs"] : undefined, "DeviceIDs");
  if (!Object.keys(ids).every((node) => /^-?\d+$/.test(node))) throw new Error("DeviceIDs are not by NUMA node");
  return {
    PodUID: podUid(text("PodUID")),
    ContainerName: text("ContainerName"),
    ResourceName: text("ResourceName"),
    DeviceIDs: ids,
    AllocResp: text("AllocResp"),
  };
}

function listsOf(value: unknown, what: string): Record<string, string[] | null> {
  if (!isRecord(value)) throw new Error(`${what} are no lists by name`);
  return Object.fromEntries(
    Object.entries(value).map(([name, list]) => [name, list === null ? null : asList(list, what).map(textOf)]),
  );
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("a device ID is no text");
  return value;
}

function asList(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is no list`);
  return value;
}
