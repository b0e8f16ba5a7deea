// Expands the volumes of claims on a node. A CSI driver expands its own volumes, and a flexVolume driver by its
// command expandfs. A local device's file system is expanded by its own tool. Volumes of other kinds never grow here.

import { readlink } from "node:fs/promises";
import type { Quantity } from "../../../shared/kubernetes/api/meta.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { value } from "../../../shared/kubernetes/api/quantity.js";
import { isBlock, type BoundClaim } from "../claims/claim.js";
import { csiPlugin, deviceKey, persistentVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import type { FlexVolumes } from "../flex/flex-volumes.js";
import { flexPlugin } from "../flex/names.js";
import { isDevicePlace, type DevicePlace, type HostPlace } from "../place.js";
import { LOCAL_PLUGIN, type LocalVolumes } from "./local.js";

interface GrowthCall {
  pod: Pod;
  bound: BoundClaim;
  place: HostPlace | DevicePlace;
  signal: AbortSignal;
}

interface Sizes {
  now: Quantity;
  wanted: Quantity;
}

interface Expander {
  /** The volume's key on this node. */
  readonly key: string;
  readonly plugin: string;
  /** Does the kind of volume grow on nodes? */
  can(signal: AbortSignal): Promise<boolean>;
  expand(call: GrowthCall, sizes: Sizes): Promise<void>;
}

export interface ExpanderDeps {
  csi: () => Promise<CsiVolumes>;
  local: Pick<LocalVolumes, "grow">;
  flex: () => Promise<Pick<FlexVolumes, "grows" | "grow">>;
}

/** undefined: volumes of that kind never grow on a node. */
export function expanderOf({ pv, readOnly, migrated }: BoundClaim, deps: ExpanderDeps): Expander | undefined {
  const { csi, local, flexVolume } = pv.spec;
  const name = pv.metadata.name ?? "";
  if (csi !== undefined) {
    const volume = persistentVolume(pv, csi, readOnly, migrated);
    return {
      key: deviceKey({ driver: csi.driver, handle: csi.volumeHandle }),
      plugin: csiPlugin(csi.driver),
      can: async (signal) => (await deps.csi()).canExpand(volume, signal),
      async expand({ place, signal }, { wanted }) {
        // For a block device the driver reports only volumes that it created itself.
        const path = isDevicePlace(place) ? await readlink(place.devicePath) : place.hostPath;
        await (await deps.csi()).expand({ volume, path, block: isBlock(pv), bytes: value(wanted), signal });
      },
    };
  }
  if (local !== undefined) {
    return {
      key: `${LOCAL_PLUGIN}/${name}`,
      plugin: LOCAL_PLUGIN,
      can: () => Promise.resolve(true),
      async expand({ place, signal }) {
        if (!isDevicePlace(place)) await deps.local.grow(pv, place.hostPath, signal);
      },
    };
  }
  if (flexVolume === undefined) return undefined;
  return {
    key: `${flexPlugin(flexVolume.driver)}/${name}`,
    plugin: flexPlugin(flexVolume.driver),
    can: async () => (await deps.flex()).grows(flexVolume.driver),
    async expand({ pod, place, signal }, { now, wanted }) {
      if (isDevicePlace(place)) return;
      const request = { pod, name, source: flexVolume, readOnly, signal };
      await (await deps.flex()).grow(request, place.hostPath, { oldBytes: value(now), newBytes: value(wanted) });
    },
  };
}
