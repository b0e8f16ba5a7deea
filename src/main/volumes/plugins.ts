// Every kind of volume that the kubelet mounts; a new kind is one folder and one entry in this list. A kind that needs
// the cluster is listed only on a node that joins one. Its code is loaded for the first pod that uses it.

import type { ResourceList } from "../../shared/kubernetes/api/meta.js";
import type { VolumeProjection } from "../../shared/kubernetes/api/volume.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import { emptyDirPlugin } from "./empty-dir/plugin.js";
import { hostPathPlugin } from "./host-path/plugin.js";
import { imagePlugin } from "./image/plugin.js";
import { lazyPlugin } from "./lazy-plugin.js";
import type { ObjectVolumeDeps } from "./object-volume/object-volume.js";
import { type VolumePlugin } from "./plugin.js";
import type { VolumeManagerOptions } from "./volume-manager-options.js";

/** `cluster` is absent on a stand-alone node. */
export function volumePlugins(options: VolumeManagerOptions, cluster?: ClusterAccess): VolumePlugin[] {
  const { rootDir, nodeMemoryBytes, clock, changeOwnership, calls, events, metrics, quotas } = options;
  const ownership = { changeOwnership, calls, events, clock, metrics };
  const objects = { rootDir, nodeMemoryBytes, clock, ownership };
  const nodeAllocatable = (): ResourceList => options.nodeAllocatable();
  return [
    emptyDirPlugin({ ...objects, quotas }),
    hostPathPlugin(options.calls),
    imagePlugin(),
    lazyPlugin({
      name: "kubernetes.io/downward-api",
      source: "downwardAPI",
      load: async () => (await import("./downward-api/plugin.js")).downwardAPIPlugin({ ...objects, nodeAllocatable }),
    }),
    lazyPlugin({
      name: "kubernetes.io/projected",
      source: "projected",
      unsupported: ({ projected }) => (cluster === undefined ? clusterSource(projected?.sources) : undefined),
      load: async () =>
        (await import("./projected/plugin.js")).projectedPlugin({ ...objects, nodeAllocatable, cluster }),
    }),
    ...(cluster === undefined ? [] : clusterPlugins({ ...objects, cluster })),
    ...(options.persistent?.plugins ?? [
      lazyPlugin({
        name: "kubernetes.io/nfs",
        source: "nfs",
        load: async () => (await import("./persistent/nfs-plugin.js")).nfsPlugin(options.rootDir),
      }),
      lazyPlugin({
        name: "kubernetes.io/iscsi",
        source: "iscsi",
        load: async () => (await import("./iscsi/standalone.js")).standaloneIscsiPlugin(options),
      }),
      lazyPlugin({
        name: "kubernetes.io/fc",
        source: "fc",
        load: async () => (await import("./fc/standalone.js")).standaloneFcPlugin(options),
      }),
      lazyPlugin({
        name: "kubernetes.io/flexvolume",
        source: "flexVolume",
        indirect: true,
        ownsDirectories: true,
        load: async () => (await import("./flex/standalone.js")).standaloneFlexPlugin(options),
      }),
    ]),
  ];
}

function clusterPlugins(deps: ObjectVolumeDeps & { cluster: ClusterAccess }): VolumePlugin[] {
  return [
    lazyPlugin({
      name: "kubernetes.io/configmap",
      source: "configMap",
      load: async () => (await import("./config-map/plugin.js")).configMapPlugin(deps),
    }),
    lazyPlugin({
      name: "kubernetes.io/secret",
      source: "secret",
      load: async () => (await import("./secret/plugin.js")).secretPlugin(deps),
    }),
  ];
}

/** The first source of a projection that needs an API server. */
function clusterSource(sources: readonly VolumeProjection[] = []): string | undefined {
  const needed = sources.flatMap((source) => Object.keys(source)).find((name) => name !== "downwardAPI");
  return needed === undefined ? undefined : `projected.${needed}`;
}
