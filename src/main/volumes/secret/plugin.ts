// secret volumes: the keys of a secret as files, in memory only.

import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { DEFAULT_MODE } from "../object-volume/key-files.js";
import { secretFiles } from "../object-volume/object-files.js";
import { objectVolumePlugin, type ObjectVolumeDeps } from "../object-volume/object-volume.js";
import type { VolumePlugin } from "../plugin.js";

export const NAME = "kubernetes.io/secret";

export function secretPlugin(deps: ObjectVolumeDeps & { cluster: ClusterAccess }): VolumePlugin {
  return objectVolumePlugin(
    {
      name: NAME,
      source: "secret",
      inMemory: true,
      collect({ pod, volume, signal }) {
        const { secretName: name = "", items, defaultMode = DEFAULT_MODE, optional = false } = volume.secret ?? {};
        const { secrets } = joined(deps.cluster);
        const { namespace } = pod.metadata;
        return secretFiles({ objects: secrets, namespace, name, items, defaultMode, optional, signal });
      },
    },
    deps,
  );
}
