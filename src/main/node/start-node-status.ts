// Starts the node-status thread, sends it main's facts, and gives main the Node object of the API server. Loaded only
// when there is a kubeconfig.
// Invariant: nothing here is waited for by the sync path.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { WallTime } from "../../shared/base/clock/moments.js";
import type { NodeFacts, NodeStatusUpcalls, Pressure, SeenNode } from "../../shared/contracts/node-status.js";
import type { PlegRecord, RuntimeState } from "../../shared/contracts/pleg.js";
import type { ClientConfig } from "../../shared/kubernetes/api/client/config.js";
import type { NodeConfigReport } from "../../shared/kubernetes/api/config-source.js";
import { printQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { NodeConfiguration } from "../model/node-configuration.js";
import type { NodeResources } from "../resources/node-capacity.js";
import { NodeStatusThread } from "../threads/node-status-thread.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { GatheredFacts } from "./node-facts.js";
import { watchNodeImages } from "./node-images.js";
import { type NodeStatusSettings, nodeStatusInit } from "./node-status-init.js";

export interface NodeStatusLinkDeps {
  nodeName: string;
  /** The moment at which the process started. */
  startedAtMs: WallTime;
  /** The kubeconfig, read. */
  clientConfig: ClientConfig;
  capacity: NodeResources;
  allocatable: NodeResources;
  /** The latest state of the runtime; later records arrive by onRecord. */
  runtime: RuntimeState | undefined;
  relisted: boolean;
  /** Absent: without --dynamic-config-dir. */
  configuration?: Pick<NodeConfiguration, "assigned"> | undefined;
  /** The API server accepts the heartbeat again after it was unreachable. */
  serverReturned: () => void;
  threads: Pick<NodeThreads, "context" | "of" | "add">;
  cri: Pick<CriClient, "updateRuntimeConfig">;
  events: Pick<EventRecorder, "node">;
  clock: Clock;
  log: Logger;
}

export interface NodeStatusLink {
  /** Every record of the pleg thread, beside the sync loop. */
  onRecord(record: PlegRecord): void;
  setVolumesInUse(names: readonly string[]): void;
  setPressures(pressures: readonly Pressure[]): void;
  setShuttingDown(shuttingDown: boolean): void;
  /** Why volumes can't be had: "" when they can. */
  setStorageProblem(problem: string): void;
  /** Reports the state of dynamic configuration in the Node's conditions. */
  setConfig(report: NodeConfigReport): void;
  setResources(capacity: NodeResources, allocatable: NodeResources): void;
  /** The latest known Node; undefined: not read yet, or deleted. */
  node(): SeenNode | undefined;
  /** Calls the listener at each change from now on. Returns a function that stops it. */
  onNode(listener: (node: SeenNode | undefined) => void): () => void;
  /** The server's present Node. Rejects if it can't be read. */
  readNode(): Promise<SeenNode>;
  /** The client certificate was renewed. */
  reloadCredentials(): Promise<void>;
  stop(): Promise<void>;
}

export function startNodeStatus(settings: NodeStatusSettings, deps: NodeStatusLinkDeps): NodeStatusLink {
  const { threads, events, clock } = deps;
  const log = moduleLogger(deps.log, "node-status");
  const listeners = new Set<(node: SeenNode | undefined) => void>();
  let seen: SeenNode | undefined;
  const facts = new GatheredFacts(resourcesOf(deps), clock, (all) => thread.setFacts(all));
  if (deps.runtime !== undefined) facts.onRecord({ kind: "runtime", state: deps.runtime });
  if (deps.relisted) facts.onRecord({ kind: "relisted", uids: [], durationMs: 0 });
  const upcalls: NodeStatusUpcalls = {
    onNode(node) {
      seen = node;
      for (const listener of listeners) listener(node);
    },
    async onPodCIDR(podCidr) {
      await deps.cri.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } });
      log.info(`updated the runtime's pod CIDR to ${podCidr}`);
    },
    serverReturned() {
      deps.serverReturned();
    },
    onConfigSource(source) {
      deps.configuration?.assigned(source);
    },
    event(type, reason, message) {
      events.node({ type, reason, message });
    },
  };
  const thread: NodeStatusThread = new NodeStatusThread({
    context: threads.context,
    init: nodeStatusInit(settings, deps),
    upcalls,
    facts: () => facts.all,
    log,
  });
  events.node({ type: "Normal", reason: "Starting", message: "Starting kubelet." });
  threads.add("node-status", thread);
  thread.thread.startInBackground();
  const max = settings.node.nodeStatusMaxImages;
  const endImages = watchNodeImages({
    list: () => threads.of.pleg.thread.call.biggestImages(max),
    found: (images) => facts.set({ images }),
    clock,
    log,
  });
  return {
    onRecord: (record) => facts.onRecord(record),
    setVolumesInUse: (names) => facts.set({ volumesInUse: [...names] }),
    setPressures: (pressures) => facts.set({ pressures: [...pressures] }),
    setShuttingDown: (shuttingDown) => facts.set({ shuttingDown }),
    setStorageProblem: (storageProblem) => facts.set({ storageProblem }),
    setConfig: (config) => facts.set({ config }),
    setResources: (capacity, allocatable) => facts.set(resourcesOf({ capacity, allocatable })),
    node: () => seen,
    onNode(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    readNode: () => thread.thread.call.readNode(),
    reloadCredentials: () => thread.thread.call.reloadCredentials(),
    async stop() {
      endImages();
      facts.stop();
      await thread.stop();
    },
  };
}

function resourcesOf({ capacity, allocatable }: { capacity: NodeResources; allocatable: NodeResources }) {
  const print = (resources: NodeResources): NodeFacts["capacity"] =>
    Object.fromEntries([...resources].map(([name, amount]) => [name, printQuantity(amount)]));
  return { capacity: print(capacity), allocatable: print(allocatable) };
}
