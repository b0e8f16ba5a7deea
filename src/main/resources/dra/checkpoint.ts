// The file <root-dir>/dra_manager_state in upstream's form, so that a node can change between kubelets. It is a JSON
// object with Data (a JSON text) and Checksum (CRC-32 of Data).
// https://github.com/kubernetes/kubernetes/tree/v1.36.0/pkg/kubelet/cm/dra/state

import { crc32 } from "node:zlib";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { podUid, type PodUid } from "../../../shared/kubernetes/identifiers.js";
import { listOf, recordOf, textOf } from "../json-shape.js";
import type { ClaimState, PreparedDevice } from "./claim-state.js";
import { DraError } from "./dra-error.js";

const KIND = "DRACheckpoint";
const API_VERSION = "checkpoint.dra.kubelet.k8s.io/v1";

interface DeviceJson {
  PoolName: string;
  DeviceName: string;
  ShareID: string | null;
  RequestNames: readonly string[] | null;
  CDIDeviceIDs: readonly string[] | null;
}

interface ClaimJson {
  ClaimUID: string;
  ClaimName: string;
  Namespace: string;
  /** A set as Go writes it: each UID with an empty object. */
  PodUIDs: Record<PodUid, object>;
  DriverState: Record<string, { Devices: readonly DeviceJson[] | null }>;
}

export function encodeClaims(claims: Iterable<ClaimState>): string {
  const ClaimInfoStateList = [...claims].map(encodeClaim);
  const Data = JSON.stringify({ kind: KIND, apiVersion: API_VERSION, ClaimInfoStateList });
  return JSON.stringify({ Data, Checksum: crc32(Data) });
}

/** `file`: as parsed from JSON. @throws DraError */
export function decodeClaims(file: unknown): ClaimState[] {
  try {
    return claimsOf(file);
  } catch (cause) {
    throw new DraError(messageOf(cause), { cause });
  }
}

function claimsOf(file: unknown): ClaimState[] {
  const { Data: data, Checksum } = recordOf(file, "the file");
  const text = textOf(data, "Data");
  if (crc32(text) !== Checksum) throw new Error("the checksum differs: the file is damaged");
  const { kind, apiVersion, ClaimInfoStateList: list } = recordOf(JSON.parse(text), "Data");
  if (kind !== KIND || apiVersion !== API_VERSION) {
    throw new Error(`it is ${String(kind)} of ${String(apiVersion)}, not ${KIND} of ${API_VERSION}`);
  }
  return listOf(list ?? [], "ClaimInfoStateList").map((entry) => decodeClaim(recordOf(entry, "an entry")));
}

function encodeClaim({ uid, name, namespace, pods, drivers }: ClaimState): ClaimJson {
  return {
    ClaimUID: uid,
    ClaimName: name,
    Namespace: namespace,
    PodUIDs: Object.fromEntries([...pods].map((pod) => [pod, {}])),
    DriverState: Object.fromEntries(
      [...drivers].map(([driver, devices]) => [driver, { Devices: devices.map(encodeDevice) }]),
    ),
  };
}

function encodeDevice({ pool, device, shareId, requests, cdiDevices }: PreparedDevice): DeviceJson {
  return {
    PoolName: pool,
    DeviceName: device,
    ShareID: shareId ?? null,
    RequestNames: requests,
    CDIDeviceIDs: cdiDevices,
  };
}

function decodeClaim(entry: Record<string, unknown>): ClaimState {
  const drivers = recordOf(entry["DriverState"] ?? {}, "DriverState");
  return {
    uid: textOf(entry["ClaimUID"], "ClaimUID"),
    name: textOf(entry["ClaimName"], "ClaimName"),
    namespace: textOf(entry["Namespace"], "Namespace"),
    pods: new Set(Object.keys(recordOf(entry["PodUIDs"] ?? {}, "PodUIDs")).map(podUid)),
    drivers: new Map(
      Object.entries(drivers).map(([driver, state]) => {
        const { Devices } = recordOf(state, "a driver's state");
        return [driver, listOf(Devices ?? [], "Devices").map((device) => decodeDevice(recordOf(device, "a device")))];
      }),
    ),
    prepared: false,
  };
}

function decodeDevice(device: Record<string, unknown>): PreparedDevice {
  const shareId = device["ShareID"] ?? undefined;
  return {
    pool: textOf(device["PoolName"], "PoolName"),
    device: textOf(device["DeviceName"], "DeviceName"),
    shareId: shareId !== undefined ? textOf(shareId, "ShareID") : undefined,
    requests: listOf(device["RequestNames"] ?? [], "RequestNames").map((name) => textOf(name, "a request's name")),
    cdiDevices: listOf(device["CDIDeviceIDs"] ?? [], "CDIDeviceIDs").map((id) => textOf(id, "a CDI device")),
  };
}
