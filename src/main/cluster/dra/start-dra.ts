// Dynamic resource allocation on a node that joins a cluster (KEP-4381). Drivers register, and the kubelet prepares and
// unprepares the claims of pods. It deletes the ResourceSlices of removed drivers.
// Invariant: until a driver registers or a pod has claims, the kubelet only checks whether the checkpoint exists.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { RESOURCE_CLAIMS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { PluginHandler } from "../../model/plugin-handler.js";
import { DynamicResourcesError, type PodClaims } from "../../model/pod-claims.js";
import { claimHealth, listedClaim, type HealthView } from "../../resources/dra/claim-health.js";
import { ClaimStore } from "../../resources/dra/claim-store.js";
import { Claims } from "../../resources/dra/claims.js";
import { Drivers } from "../../resources/dra/drivers.js";
import { draMetrics } from "../../resources/dra/metrics.js";
import { startClaimReconciliation } from "./claim-reconciliation.js";
import { followHealth } from "./follow-health.js";
import { SliceWipes } from "./slices.js";

export interface DraDeps {
  rootDir: string;
  nodeName: string;
  client: ApiClient;
  /** The pod's status in the API. */
  apiStatus(podUid: PodUid): PodStatus | undefined;
  /** Pods that may use claims: all but those that have terminated. Undefined until every source has delivered. */
  activePods(): ReadonlySet<PodUid> | undefined;
  gates: DraGates;
  /** The health of devices of these pods changed. */
  onHealth(podUids: ReadonlySet<PodUid>): void;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

/** Feature gates of the same names. */
interface DraGates {
  resourceHealthStatus: boolean;
  resourceHealthStatusMessage: boolean;
  draExtendedResource: boolean;
  draWorkloadResourceClaims: boolean;
}

export interface RunningDra {
  handler: PluginHandler;
  claims: PodClaims;
  stop(): Promise<void>;
}

export function startDra(deps: DraDeps): RunningDra {
  const { rootDir, nodeName, client, gates, registry, clock } = deps;
  const log = moduleLogger(deps.log, "dra");
  const lifetime = new Lifetime();
  const store = new ClaimStore(rootDir, clock, log);
  const metrics = draMetrics(registry, () => store.all());
  const wipes = new SliceWipes({ nodeName, client, clock, log });
  const health = followHealth({
    claims: () => store.all(),
    onPods: (uids) => deps.onHealth(uids),
    rootDir,
    clock,
    log,
  });
  const drivers = new Drivers(
    omitUndefined({
      dial: async (driver, endpoint, services) =>
        (await import("../../resources/dra/driver-client.js")).dialDriver({
          driver,
          endpoint,
          services,
          clock,
          metrics,
        }),
      wipeSlices: (driver, signal) => wipes.start(driver, signal),
      watchHealth: gates.resourceHealthStatus ? (...plugin) => health.watch(...plugin) : undefined,
      clock,
      log,
    }),
  );
  const claims = new Claims({
    store,
    driver: (name) => drivers.client(name),
    readClaim: (namespace, name, signal) => client.get(RESOURCE_CLAIMS, { namespace, name }, { signal }),
    apiStatus: (uid) => deps.apiStatus(uid),
    extendedResources: gates.draExtendedResource,
    podGroups: gates.draWorkloadResourceClaims,
    observe: metrics,
    clock,
  });
  const loaded = store.load().catch((error: unknown) => {
    log.error({ err: error }, `${errorText(error)}; pods with ResourceClaims wait until it can be read`);
  });
  wipes.start(undefined, lifetime.signal);
  const activePods = (): ReadonlySet<PodUid> | undefined => deps.activePods();
  const load = (): Promise<void> => store.load();
  const reconciliation = startClaimReconciliation({ claims, load, activePods, clock, log }, lifetime.signal);

  return {
    handler: drivers,
    claims: podClaims(claims, store, {
      healthOf: (driver, device) => health.of(driver, device),
      messages: gates.resourceHealthStatusMessage,
    }),
    async stop() {
      lifetime.end();
      drivers.stop();
      await Promise.all([wipes.settled(), reconciliation.stop(), health.stop()]);
      await loaded;
      await store.settled();
    },
  };
}

/** The claims as the runtime verbs use them: errors become the pod's event. */
function podClaims(claims: Claims, store: ClaimStore, view: HealthView): PodClaims {
  return {
    async prepare(pod: Pod, anew, signal) {
      if (!claims.uses(pod)) return;
      await explained("prepare", signal, async () => {
        await store.load();
        if (anew || !claims.isKnown(pod)) await claims.prepare(pod, signal);
      });
    },
    holds: (pod) => claims.uses(pod) && (!store.isLoaded || claims.holds(pod)),
    unprepare: (podUid, pod, signal) =>
      explained("unprepare", signal, async () => {
        try {
          await store.load();
        } catch (error) {
          if (pod !== undefined && claims.uses(pod)) throw error;
          // Pods without claims end; of unknown pods the reconciliation unprepares them.
          return;
        }
        await claims.unprepare(podUid, signal);
      }),
    cdiDevices(pod, container) {
      try {
        return claims.cdiDevices(pod, container);
      } catch (cause) {
        throw new DynamicResourcesError(`prepare dynamic resources: ${messageOf(cause)}`, { cause });
      }
    },
    health: (pod, container) => claimHealth(claims.ofContainer(pod, container), view),
    listed: (pod, container) => claims.listed(pod, container).map(listedClaim),
  };
}

/** @throws DynamicResourcesError, or the signal's reason */
async function explained(verb: "prepare" | "unprepare", signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    signal.throwIfAborted();
    throw new DynamicResourcesError(`${verb} dynamic resources: ${messageOf(cause)}`, { cause });
  }
}
