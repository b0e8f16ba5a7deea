// downwardAPI volumes: fields of the pod as files in memory. They need no API server.

import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import { DEFAULT_MODE } from "../object-volume/key-files.js";
import { objectVolumePlugin, type ObjectVolumeDeps } from "../object-volume/object-volume.js";
import type { VolumePlugin } from "../plugin.js";
import { downwardFiles } from "./downward-files.js";

export interface DownwardDeps extends ObjectVolumeDeps {
  nodeAllocatable(): ResourceList;
}

export function downwardAPIPlugin(deps: DownwardDeps): VolumePlugin {
  return objectVolumePlugin(
    {
      name: "kubernetes.io/downward-api",
      source: "downwardAPI",
      inMemory: true,
      collect({ pod, volume }) {
        const { items, defaultMode = DEFAULT_MODE } = volume.downwardAPI ?? {};
        const files = () => downwardFiles({ pod, items, defaultMode, nodeAllocatable: deps.nodeAllocatable() });
        return Promise.resolve().then(files);
      },
    },
    deps,
  );
}
