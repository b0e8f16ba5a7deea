// Starts the pod sources: manifest files, the manifest URL, and the API server once the node has joined its cluster.
import { startSources, type Sources } from "../sources/start-sources.js";
import { podUidsIn } from "../volumes/paths.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import type { ManagedRuntime } from "./managed-runtime.js";
import type { SyncPath } from "./sync-path.js";

export function startPodSources(
  { settings, clock, log }: AgentContext,
  { tasks, membership }: Foundation,
  { runtime: { cri } }: Pick<ManagedRuntime, "runtime">,
  { loop }: NodeSync,
): Sources {
  const { rootDir } = settings;
  return startSources({
    ...settings.sources,
    preventAPIReferences: settings.sources.preventStaticPodAPIReferences,
    ...(settings.manifestApi && { submittedFolder: `${rootDir}/nodelet/manifests` }),
    nodeName: settings.nodeName,
    earlier: {
      path: `${rootDir}/static_pod_uids`,
      uidsOnDisk: () => podUidsIn(rootDir),
      async runningPods(signal) {
        const [sandboxes, containers] = await Promise.all([
          cri.listPodSandbox({}, { signal }),
          cri.listContainers({}, { signal }),
        ]);
        return { sandboxes: sandboxes.items, containers: containers.containers };
      },
    },
    ...{ loop, tasks, clock, log },
    withApi: membership !== undefined,
  });
}

/** Joins the cluster in the background; nothing happens on a stand-alone node. */
export function joinItsCluster(
  { settings, threads, cluster, configuration, registry, clock, log }: AgentContext,
  { membership, persistent, tasks, hostIPs, events: recorder }: Foundation,
  { runtime, devices, resources }: ManagedRuntime,
  { sync, pressures }: SyncPath,
  sources: Sources,
): void {
  if (membership === undefined || cluster === undefined || persistent === undefined) return;
  const joining = {
    ...cluster,
    nodeName: settings.nodeName,
    ...{ persistent, threads, sync, sources, tasks, resources, hostIPs, pressures, recorder, registry, clock, log },
    plugins: { DevicePlugin: devices.handler },
    cri: runtime.cri,
    late: membership.late,
    ...(configuration && { configuration }),
  };
  membership.begin(async () => {
    const { joinCluster } = await import("../cluster/join-cluster.js");
    return joinCluster(joining);
  });
}
