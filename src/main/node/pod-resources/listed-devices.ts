// Devices and ResourceClaims of containers as the pod resources service lists them.

import type { DynamicResource } from "../../../shared/kubernetes/plugins/gen/podresources.v1.js";
import type { PodClaims } from "../../model/pod-claims.js";
import type { DeviceManager } from "../../resources/devices/device-manager.js";
import { nodesOfDevices } from "../../resources/devices/granted-devices.js";
import type { ListedDevice, PodResourcesPorts } from "./lister.js";

type Held = Pick<DeviceManager, "granted" | "pool">;

/** `manager` may return undefined: no pod has devices. */
export function listedDevices(manager: () => Held | undefined): NonNullable<PodResourcesPorts["devices"]> {
  return {
    of(podUid, container) {
      const granted = [...(manager()?.granted.of(podUid, container) ?? [])];
      return granted.flatMap(([resource, given]) =>
        [...nodesOfDevices(given)].map(([id, nodes]): ListedDevice => ({ resource, id, nodes })),
      );
    },
    allocatable() {
      const pool = manager()?.pool;
      if (pool === undefined) return [];
      return pool.names().flatMap((resource) =>
        [...pool.usable(resource)].map((id): ListedDevice => ({
          resource,
          id,
          nodes: pool.devices(resource).get(id)?.nodes ?? [],
        })),
      );
    },
  };
}

/** `claims` returns undefined: the kubelet has not joined a cluster yet. */
export function listedClaims(
  claims: () => Pick<PodClaims, "listed"> | undefined,
): NonNullable<PodResourcesPorts["claims"]> {
  return (pod, container) =>
    (claims()?.listed(pod, container) ?? []).map(({ name, namespace, devices }): DynamicResource => ({
      claimName: name,
      claimNamespace: namespace,
      claimResources: devices.map(({ driver, pool, device, shareId, cdiDevices }) => ({
        cdiDevices: cdiDevices.map((id) => ({ name: id })),
        driverName: driver,
        poolName: pool,
        deviceName: device,
        shareId,
      })),
    }));
}
