// downwardAPI volumes: fields of the pod as files in memory. They need no API server.
import type { ResourceList } from "../../../shared/api/meta.js";
import { DEFAULT_MODE, together } from "../object-volume/key-files.js";
import { objectVolumePlugin, type ObjectVolumeDeps } from "../object-volume/object-volume.js";
import type { VolumePlugin } from "../plugin.js";
import type { Pod } from "../../../shared/api/pod.js";
import type { DownwardAPIVolumeFile } from "../../../shared/api/volume.js";
import { resourceFieldValue, volumeFieldValue } from "../../model/downward.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";

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

// The downward API as files: fields of the pod and resources of its containers, for downwardAPI volumes and
// projections.

interface DownwardFilesRequest {
  pod: Pod;
  items: readonly DownwardAPIVolumeFile[] | undefined;
  defaultMode: number;
  /** Of this node. */
  nodeAllocatable: ResourceList;
}

/** Throws one error with the problems of all items. */
export function downwardFiles({ pod, items = [], defaultMode, nodeAllocatable }: DownwardFilesRequest): Payload {
  const files = new Map<string, PayloadFile>();
  const problems: unknown[] = [];
  for (const { path, fieldRef, resourceFieldRef, mode = defaultMode } of items) {
    try {
      if (fieldRef !== undefined) files.set(path, { data: volumeFieldValue(pod, fieldRef.fieldPath), mode });
      else if (resourceFieldRef !== undefined) {
        files.set(path, { data: resourceFieldValue({ pod, nodeAllocatable }, resourceFieldRef), mode });
      }
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw together(problems);
  return files;
}
