// Devices of the claims of one container in containerStatuses[].allocatedResourcesStatus, and in dynamic_resources of
// the pod resources service.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ResourceStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { ListedClaim } from "../../model/pod-claims.js";
import type { ClaimState, PreparedDevice } from "./claim-state.js";
import type { DeviceRef, DeviceReport } from "./device-health.js";

/**
 * A claim of the container: `podName` and `request` as its resources.claims has them; `request` "": the whole claim.
 */
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
      resources.set(
        resourceID,
        omitUndefined({ resourceID, health, message: view.messages && message !== "" ? message : undefined }),
      );
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
