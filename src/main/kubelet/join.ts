// Joins the node to its cluster in the background; nothing happens on a stand-alone node.

import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import type { Sources } from "../pods/sources/start-sources.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { PodSync } from "../pods/sync/pod-sync.js";
import type { NodeDevices } from "../resources/devices/node-devices.js";
import type { NodePressures } from "../resources/eviction/pressures.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";

export interface JoinParts {
  foundation: Foundation;
  state: PodState;
  sync: PodSync;
  sources: Sources;
  cri: CriClient;
  devices: NodeDevices;
  resources: NodeResourcesHolder;
  pressures: NodePressures;
}

export function beginJoin(context: AgentContext, parts: JoinParts): void {
  const { threads, cluster, configuration, registry, clock, log } = context;
  const { foundation, state, sync, sources, cri, devices, resources, pressures } = parts;
  const { membership, persistent, tasks, hostIPs, events } = foundation;
  if (membership === undefined || cluster === undefined || persistent === undefined) return;
  membership.startJoining(async () => {
    const { joinCluster } = await import("../cluster/join-cluster.js");
    return joinCluster({
      settings: cluster.settings,
      startedAtMs: cluster.startedAtMs,
      giveUp: cluster.giveUp,
      nodeName: context.settings.nodeName,
      membership,
      persistent,
      threads,
      state,
      sync,
      sources,
      tasks,
      cri,
      resources,
      hostIPs,
      pressures,
      plugins: { DevicePlugin: devices.handler },
      configuration,
      recorder: events,
      registry,
      clock,
      log,
    });
  });
}
