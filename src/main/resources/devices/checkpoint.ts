// Upstream's format of kubelet_internal_checkpoint, so that either kubelet reads the other's file:
// {"Data": {"PodDeviceEntries": […], "RegisteredDevices": {…}}, "Checksum": N}.
// The checksum is 32-bit FNV-1a over Go's debug print of Data (types and field names included), which goPrint() rebuilds.

import { fnv32 } from "../../../shared/hash/fnv32.js";

export interface CheckpointEntry {
  PodUID: string;
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

export function encodeCheckpoint(data: CheckpointData): string {
  return JSON.stringify({ Data: data, Checksum: checksumOf(data) });
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
  return fnv32(goPrint(data));
}

function goPrint({ PodDeviceEntries: entries, RegisteredDevices: registered }: CheckpointData): string {
  const printed = entries === null ? "<nil>" : `[${entries.map(printEntry).join(" ")}]`;
  return (
    `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${printed} ` +
    `RegisteredDevices:(map[string][]string)${printLists(registered, byText)}}`
  );
}

function printEntry(entry: CheckpointEntry): string {
  return (
    `{PodUID:(string)${entry.PodUID} ContainerName:(string)${entry.ContainerName} ` +
    `ResourceName:(string)${entry.ResourceName} ` +
    `DeviceIDs:(checkpoint.DevicesPerNUMA)${printLists(entry.DeviceIDs, (a, b) => Number(a) - Number(b))} ` +
    `AllocResp:([]uint8)[${[...Buffer.from(entry.AllocResp, "base64")].join(" ")}]}`
  );
}

function printLists(lists: Readonly<Record<string, string[] | null>>, order: (a: string, b: string) => number): string {
  const pairs = Object.keys(lists)
    .sort(order)
    .map((key) => `${key}:${printList(lists[key])}`);
  return `map[${pairs.join(" ")}]`;
}

function printList(list: readonly string[] | null | undefined): string {
  return list == null ? "<nil>" : `[${list.join(" ")}]`;
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
    PodUID: text("PodUID"),
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
