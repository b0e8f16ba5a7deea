// Starts the pod sources: manifest files, the manifest URL, and the API server once the node has joined its cluster.
import { moduleLogger } from "../../shared/log/logger.js";
import { publicUrl } from "../sources/decode-job.js";
import { laterFieldsWarnings } from "../sources/later-fields.js";
import { ManifestReporter } from "../sources/manifest-reporter.js";
import { manifestMetrics } from "../sources/metrics.js";
import type { NameOwner } from "../sources/shadowed-pods.js";
import { startSources, type Sources } from "../sources/start-sources.js";
import { podUidsIn } from "../volumes/paths.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import { Later } from "./later.js";
import type { ManagedRuntime } from "./managed-runtime.js";
import type { SyncPath } from "./sync-path.js";

export function startPodSources(
  { settings, threads, registry, clock, log }: AgentContext,
  { tasks, membership, events }: Foundation,
  { runtime: { cri } }: Pick<ManagedRuntime, "runtime">,
  sync: NodeSync,
): Sources {
  const { rootDir } = settings;
  const later = new Later<Sources>("the pod sources");
  const { staticPodPath, staticPodURL } = settings.sources;
  const reporter = new ManifestReporter({
    manifests: () => later.get().manifests(),
    configured: [staticPodPath, staticPodURL === "" ? "" : publicUrl(staticPodURL)].filter((one) => one !== ""),
    ownerOf: (fullName) => nameOwner(sync.workers, fullName),
    sourceOf: (uid) => later.get().sourceOf(uid),
    publish: (list) => threads.servers.setManifests(list),
    metrics: manifestMetrics(registry),
    ...{ events, clock },
    log: moduleLogger(log, "sources"),
  });
  sync.subscribe("manifests", { accepted: reporter.changed, removed: reporter.changed, terminated: reporter.changed });
  sync.subscribe("later-fields", laterFieldsWarnings(events));
  const sources = startSources({
    ...settings.sources,
    preventAPIReferences: settings.sources.preventStaticPodAPIReferences,
    ...(settings.manifestApi !== "off" && { submittedFolder: `${rootDir}/nodelet/manifests` }),
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
    ...{ tasks, clock, log },
    loop: sync.loop,
    withApi: membership !== undefined,
    onManifests: reporter.changed,
    shorten: (fullName, graceSeconds) => sync.workers.shortenStatic(fullName, graceSeconds),
  });
  later.set(sources);
  return {
    ...sources,
    stop: async () => {
      reporter.stop();
      await sources.stop();
    },
  };
}

function nameOwner(workers: NodeSync["workers"], fullName: string): NameOwner | undefined {
  const uid = workers.ownerOf(fullName);
  if (uid === undefined) return undefined;
  const state = workers.get(uid)?.state;
  return { uid, isEnding: state === "terminating" || state === "terminated" };
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
