// The pod sources of this node: manifest files, the manifest URL, and the API server once the node has joined its
// cluster.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { publicUrl } from "../pods/sources/decode-job.js";
import { laterFieldsWarnings } from "../pods/sources/later-fields.js";
import { ManifestReporter } from "../pods/sources/manifest-reporter.js";
import { manifestMetrics } from "../pods/sources/metrics.js";
import type { NameOwner } from "../pods/sources/shadowed-pods.js";
import { makeSources, type Sources } from "../pods/sources/start-sources.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { PodTable } from "../pods/sync/pod-table.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import { podUidsIn } from "../volumes/paths.js";
import type { AgentContext } from "./context.js";

export interface PodSourcesParts {
  state: Pick<PodState, "events">;
  sync: Pick<PodSync, "loop" | "workers">;
  cri: CriClient;
  tasks: TasksPool;
}

export function makePodSources(
  { settings, cluster, clock, log }: AgentContext,
  { state, sync, cri, tasks }: PodSourcesParts,
): Sources {
  const { rootDir } = settings;
  return makeSources(
    omitUndefined({
      ...settings.sources,
      preventAPIReferences: settings.sources.preventStaticPodAPIReferences,
      submittedFolder: settings.manifestApi !== "off" ? `${rootDir}/nodelet/manifests` : undefined,
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
      tasks,
      clock,
      log,
      loop: sync.loop,
      withApi: cluster !== undefined,
      onManifests: () => state.events.emit("manifestsChanged", undefined),
      shorten: (fullName, graceSeconds) => sync.workers.shortenStatic(fullName, graceSeconds),
    }),
  );
}

export interface ManifestReporterParts {
  state: Pick<PodState, "events" | "pods">;
  sources: Sources;
  events: EventRecorder;
}

/** Follows the manifests from now on. */
export function makeManifestReporter(
  { settings, threads, registry, clock, log }: AgentContext,
  { state, sources, events }: ManifestReporterParts,
): ManifestReporter {
  const { staticPodPath, staticPodURL } = settings.sources;
  const reporter = new ManifestReporter({
    manifests: () => sources.manifests(),
    configured: [staticPodPath, staticPodURL === "" ? "" : publicUrl(staticPodURL)].filter((one) => one !== ""),
    ownerOf: (fullName) => nameOwner(state.pods, fullName),
    sourceOf: (uid) => sources.sourceOf(uid),
    publish: (list) => threads.servers.setManifests(list),
    metrics: manifestMetrics(registry),
    events,
    clock,
    log: moduleLogger(log, "sources"),
  });
  const { changed } = reporter;
  state.events.subscribe("manifests", {
    manifestsChanged: changed,
    accepted: changed,
    removed: changed,
    terminated: changed,
  });
  state.events.subscribe("later-fields", laterFieldsWarnings(events));
  return reporter;
}

function nameOwner(pods: PodTable, fullName: string): NameOwner | undefined {
  const uid = pods.ownerOf(fullName);
  if (uid === undefined) return undefined;
  const state = pods.get(uid)?.state;
  return { uid, isEnding: state === "terminating" || state === "terminated" };
}
