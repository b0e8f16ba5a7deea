// The downward API as files: fields of the pod and resources of its containers, for downwardAPI volumes and
// projections.

import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { DownwardAPIVolumeFile } from "../../../shared/kubernetes/api/volume.js";
import { volumeFieldValue, resourceFieldValue } from "../../model/downward.js";
import type { Payload, PayloadFile } from "../atomic-writer/payload.js";
import { together } from "../object-volume/content-error.js";

interface DownwardFilesRequest {
  pod: Pod;
  items: readonly DownwardAPIVolumeFile[] | undefined;
  defaultMode: number;
  /** Allocatable resources of this node. */
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
