// configMap volumes: the keys of a config map as files, on the node's disk.

import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { DEFAULT_MODE } from "../object-volume/key-files.js";
import { configMapFiles } from "../object-volume/object-files.js";
import { objectVolumePlugin, type ObjectVolumeDeps } from "../object-volume/object-volume.js";
import type { VolumePlugin } from "../plugin.js";

export const NAME = "kubernetes.io/configmap";

export function configMapPlugin(deps: ObjectVolumeDeps & { cluster: ClusterAccess }): VolumePlugin {
  return objectVolumePlugin(
    {
      name: NAME,
      source: "configMap",
      inMemory: false,
      collect({ pod, volume, signal }) {
        const { name = "", items, defaultMode = DEFAULT_MODE, optional = false } = volume.configMap ?? {};
        const { configMaps } = joined(deps.cluster);
        const { namespace } = pod.metadata;
        return configMapFiles({ objects: configMaps, namespace, name, items, defaultMode, optional, signal });
      },
    },
    deps,
  );
}
