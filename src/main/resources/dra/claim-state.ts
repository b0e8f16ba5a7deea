// The state of the ResourceClaims that the kubelet's pods use: pods, drivers and devices of each claim. Pure functions
// derive the CDI devices of a container, its allocatedResourcesStatus, and the pod resources service's list.
// Invariant: a claim has an entry from before the first call of its driver until every driver has unprepared it.
import type { ResourceStatus } from "../../../shared/api/pod-status.js";
import type { ListedClaim } from "../../model/pod-claims.js";
import type { DeviceReport, DeviceRef } from "./device-health.js";

export interface PreparedDevice {
  pool: string;
  device: string;
  /** One share of a device that several claims use. */
  shareId?: string;
  /** The requests of the claim that it serves; empty: all. */
  requests: readonly string[];
  /** Fully qualified: "vendor.com/class=name". */
  cdiDevices: readonly string[];
}

export interface ClaimState {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** UIDs of the pods that use it. */
  readonly pods: Set<string>;
  /** By driver of the allocation; empty for a driver that provides no device, or has not prepared the claim yet. */
  readonly drivers: Map<string, readonly PreparedDevice[]>;
  /**
   * Every driver has prepared it since this kubelet started. A claim from the checkpoint begins with false and is prepared again. Calls are
   * idempotent, and a plugin may have restarted.
   */
  prepared: boolean;
}

/** CDI devices of one request of the claim; of the whole claim for "". */
export function cdiDevicesOf({ drivers }: ClaimState, request: string): string[] {
  return [...drivers.values()]
    .flat()
    .filter(({ requests }) => request === "" || requests.length === 0 || requests.includes(request))
    .flatMap(({ cdiDevices }) => cdiDevices);
}

export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

// Devices of the claims of one container in containerStatuses[].allocatedResourcesStatus, and in dynamic_resources of
// the pod resources service.

/** A claim of the container: `podName` and `request` as its resources.claims has them; `request` "": the whole claim. */
export interface ContainerClaim {
  podName: string;
  request: string;
  state: ClaimState;
}

export interface HealthView {
  healthOf(driver: string, device: DeviceRef): Pick<DeviceReport, "health" | "message">;
  /** Gate ResourceHealthStatusMessage. */
  messages: boolean;
}

/**
 * Resources are named "claim:NAME" or "claim:NAME/REQUEST". Each device is listed once, by its first CDI name, or by
 * "driver/pool/device" if it has none.
 */
export function claimHealth(claims: readonly ContainerClaim[], view: HealthView): ResourceStatus[] {
  return claims.flatMap(({ podName, request, state }) => {
    const resources = new Map<string, ResourceStatus["resources"][number]>();
    for (const device of devicesOf(state)) {
      if (request !== "" && device.requests.length > 0 && !device.requests.includes(mainRequest(request))) continue;
      const resourceID = resourceId(device);
      if (resources.has(resourceID)) continue;
      const { health, message } = view.healthOf(device.driver, device);
      resources.set(resourceID, { resourceID, health, ...(view.messages && message !== "" && { message }) });
    }
    const name = request === "" ? `claim:${podName}` : `claim:${podName}/${request}`;
    return resources.size === 0 ? [] : [{ name, resources: [...resources.values()] }];
  });
}

export function listedClaim(state: ClaimState): ListedClaim {
  const { name, namespace } = state;
  return { name, namespace, devices: devicesOf(state) };
}

type DriverDevice = PreparedDevice & { driver: string };

function devicesOf({ drivers }: ClaimState): DriverDevice[] {
  return [...drivers].flatMap(([driver, devices]) => devices.map((device) => ({ ...device, driver })));
}

function resourceId({ driver, pool, device, cdiDevices }: DriverDevice): string {
  return cdiDevices[0] ?? `${driver}/${pool}/${device}`;
}

/** The request of a subrequest ("main/sub"): drivers name only the request. */
function mainRequest(request: string): string {
  return request.split("/", 1)[0] ?? request;
}
