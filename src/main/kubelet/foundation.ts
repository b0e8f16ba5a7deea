// The base of all parts of the kubelet: events, metrics, tasks pool, calls on volumes, connection to the cluster. None
// of these depends on another part.

import { goPlatform } from "../../shared/base/text/go-platform.js";
import { startHelperProcess } from "../../shared/node/volume-calls/helper.js";
import { VolumeCalls } from "../../shared/node/volume-calls/volume-calls.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import { Membership } from "../cluster/membership.js";
import { startCredentialProviders } from "../containers/images/credential-providers/start.js";
import type { ProviderCredentials } from "../containers/images/keyring/keyring-credentials.js";
import { recordBuild } from "../node/metrics.js";
import { eventMetrics } from "../pods/events/metrics.js";
import { NodeRecorder } from "../pods/events/node-recorder.js";
import { HostIPs } from "../pods/status/host-ips.js";
import { podMetrics, type PodMetrics } from "../pods/sync/metrics.js";
import { Timelines } from "../pods/timeline/timelines.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { ProjectQuotas } from "../volumes/quotas/project-quotas.js";
import type { AgentContext } from "./context.js";
import { makePersistentVolumes } from "./persistent-volumes.js";

/** Pool threads decode manifests: 10 MiB of YAML expands to several times that. */
const TASKS_HEAP_MIB = 256;

export interface Foundation {
  metrics: PodMetrics;
  events: NodeRecorder;
  timelines: Timelines;
  tasks: TasksPool;
  /** Calls on files of volumes, which may hang. */
  calls: VolumeCalls;
  /** Usage of volumes as the file system counts it. */
  quotas: ProjectQuotas;
  hostIPs: HostIPs;
  /** Undefined on a stand-alone node, as is `persistent`. */
  membership: Membership | undefined;
  persistent: PersistentVolumes | undefined;
  /** Undefined without credential provider plugins. */
  providers: ProviderCredentials | undefined;
}

export async function makeFoundation(context: AgentContext): Promise<Foundation> {
  const { settings, cluster, registry, clock, log } = context;
  const { nodeName, imageCredentialProviderConfig, imageCredentialProviderBinDir } = settings;
  const membership = cluster && new Membership(moduleLogger(log, "cluster"));
  const access = membership?.access;
  const providers = await startCredentialProviders(
    { ...settings.images, imageCredentialProviderConfig, imageCredentialProviderBinDir },
    { clock, log, registry, cluster: access },
  );
  recordBuild(registry, { gitVersion: settings.kubernetesVersion, platform: goPlatform() });
  // In a cluster manifests seldom change, and the certificates' library should not stay.
  const minThreads = cluster === undefined ? 1 : 0;
  const tasks = context.createTasksPool({ minThreads, maxThreads: 2, heapMiB: TASKS_HEAP_MIB, log, clock });
  const volumesLog = moduleLogger(log, "volumes");
  const calls = new VolumeCalls({ clock, log: volumesLog, startHelper: startHelperProcess });
  const counters = eventMetrics(registry);
  const events = new NodeRecorder({ nodeName, clock, log: moduleLogger(log, "events"), counters });
  const persistent = cluster &&
    access && { settings: cluster.settings, nodeName, cluster: access, tasks, calls, events, registry, clock, log };
  return {
    metrics: podMetrics(registry),
    events,
    timelines: new Timelines({ clock, events: (uid) => events.store.about(uid) }),
    tasks,
    calls,
    quotas: new ProjectQuotas({ enabled: settings.runtime.fsQuotaMonitoring, clock, log: volumesLog }),
    hostIPs: new HostIPs(settings.nodeIPs, clock),
    membership,
    persistent: persistent && (await makePersistentVolumes(persistent)),
    providers,
  };
}
