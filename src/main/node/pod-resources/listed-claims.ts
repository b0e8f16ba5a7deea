// ResourceClaims of containers as the pod resources service lists them.
import type { DynamicResource } from "../../../shared/plugins/gen/podresources.v1.js";
import type { PodClaims } from "../../model/pod-claims.js";
import type { PodResourcesPorts } from "./lister.js";

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
