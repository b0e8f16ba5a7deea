// The logic of the node-status thread, without a thread: virtual time, an API server in memory, a board, a listening
// main.

import { wallTime, monotonicTime } from "../../../src/shared/base/clock/moments.js";
import { BoardReader, BoardWriter, createBoard } from "../../../src/shared/base/queue/board.js";
import type { NodeFacts, NodeStatusInit, SeenNode } from "../../../src/shared/contracts/node-status.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import type { HostNetwork } from "../../../src/workers/node-status/addresses.js";
import type { StatusInput } from "../../../src/workers/node-status/compute.js";
import type { Machine } from "../../../src/workers/node-status/machine.js";
import { nodeStatusMetrics, type NodeStartup } from "../../../src/workers/node-status/metrics.js";
import { NodeStatusKeeper } from "../../../src/workers/node-status/node-status.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";
import { MemoryApi } from "./memory-api.js";

export const MACHINE: Machine = {
  machineID: "m1",
  systemUUID: "s1",
  bootID: "b1",
  kernelVersion: "6.1.0",
  osImage: "Debian GNU/Linux 12 (bookworm)",
  swapCapacity: 0,
};

export const NETWORK: HostNetwork = {
  interfaces: {
    lo: [{ address: "127.0.0.1", family: "IPv4", internal: true, netmask: "", mac: "", cidr: null }],
    eth0: [
      { address: "10.0.0.5", family: "IPv4", internal: false, netmask: "", mac: "", cidr: null },
      { address: "fd00::5", family: "IPv6", internal: false, netmask: "", mac: "", cidr: null, scopeid: 0 },
    ],
    eth1: [{ address: "192.168.7.5", family: "IPv4", internal: false, netmask: "", mac: "", cidr: null }],
  },
  defaultInterface: "eth0",
  resolved: [],
};

export const INIT: NodeStatusInit = {
  nodeName: "n1",
  hostname: "n1",
  api: { kubeconfig: "/nowhere", renewedCertificate: "" },
  nodeLeaseDurationSeconds: 40,
  nodeStatusUpdateFrequencyMs: 10_000,
  nodeStatusReportFrequencyMs: 300_000,
  registerNode: true,
  getOnExistsOnly: false,
  registerWithTaints: [],
  nodeLabels: {},
  providerID: "",
  externalCloudProvider: false,
  enableControllerAttachDetach: true,
  localStorageCapacityIsolation: true,
  nodeIPs: [],
  port: 10250,
  kubeletVersion: "v1.36.0",
  userAgent: "test",
  operatingSystem: "linux",
  architecture: "amd64",
  declaredFeatures: [],
  rootDir: "/nowhere",
  startedAtMs: wallTime(0),
  configSources: undefined,
};

export const FACTS: NodeFacts = {
  runtime: {
    name: "containerd",
    version: "1.6.20",
    silentSinceMs: undefined,
    details: {
      runtimeReady: { status: true, reason: "", message: "" },
      networkReady: { status: true, reason: "", message: "" },
      handlers: [],
    },
  },
  relisted: true,
  capacity: { cpu: "2", memory: "4Gi", "ephemeral-storage": "10Gi", pods: "110" },
  allocatable: { cpu: "1900m", memory: "3Gi", "ephemeral-storage": "9Gi", pods: "110" },
  images: [],
  volumesInUse: [],
  pressures: [],
  shuttingDown: false,
  storageProblem: "",
};

export const HEALTHY = { stalls: [], plegProblem: "" };

export function statusInput(changes: Partial<StatusInput> = {}): StatusInput {
  return {
    init: INIT,
    facts: FACTS,
    machine: MACHINE,
    network: NETWORK,
    health: HEALTHY,
    wallMs: wallTime(0),
    nowMs: monotonicTime(0),
    ...changes,
  };
}

const STAMP_MS = 500;

export class KeeperWorld {
  readonly clock = new SteppedClock();
  readonly kept = keptLog();
  readonly api = new MemoryApi(() => this.clock.now());
  readonly board = createBoard(["main", "pleg"]);
  readonly main = new BoardWriter(this.board, "main", this.clock);
  readonly pleg = new BoardWriter(this.board, "pleg", this.clock);
  readonly events: string[] = [];
  readonly nodes: (SeenNode | undefined)[] = [];
  readonly podCIDRs: string[] = [];
  /** Number of serverReturned() calls. */
  returns = 0;
  private readonly onReturns = new Set<() => void>();
  readonly presence = {
    onReturn: (listener: () => void): (() => void) => {
      this.onReturns.add(listener);
      return () => void this.onReturns.delete(listener);
    },
    returned: (): void => this.onReturns.forEach((listener) => listener()),
    size: (): number => this.onReturns.size,
  };
  /** Main does not respond. */
  deaf: Error | undefined;
  startup: NodeStartup | undefined;
  fresh = false;
  machine: Machine = MACHINE;
  readonly registry = new ThreadRegistry("test");
  keeper: NodeStatusKeeper;
  /** Threads that do not stamp. */
  readonly stuck = new Set<string>();

  constructor(
    private readonly init: Partial<NodeStatusInit> = {},
    private readonly random = 0.5,
  ) {
    this.keeper = this.make(1);
  }

  make(generation: number): NodeStatusKeeper {
    const metrics = nodeStatusMetrics(this.registry);
    const advance = (run: () => void): Promise<void> => {
      if (this.deaf !== undefined) return Promise.reject(this.deaf);
      run();
      return Promise.resolve();
    };
    this.keeper = new NodeStatusKeeper(
      { ...INIT, ...this.init },
      {
        client: this.api,
        presence: this.presence,
        main: {
          onNode: (node) => advance(() => this.nodes.push(node)),
          onPodCIDR: (podCIDR) => advance(() => this.podCIDRs.push(podCIDR)),
          serverReturned: () => advance(() => this.returns++),
          event: (_type, reason) => advance(() => this.events.push(reason)),
        },
        board: new BoardReader(this.board, this.clock),
        machine: this.machine,
        machineStartedAt: wallTime(-60_000),
        network: { current: () => Promise.resolve(NETWORK), expire: () => undefined },
        freshMachine: () => Promise.resolve(this.fresh),
        generation,
        clock: this.clock,
        log: this.kept.log,
        metrics: { ...metrics, startedUp: (times) => (this.startup = times) },
        random: () => this.random,
      },
    );
    return this.keeper;
  }

  /** All is well from the first moment. */
  async start(facts: NodeFacts | "unknown" = FACTS): Promise<void> {
    this.stampAll();
    this.pleg.worked();
    this.keeper.start();
    if (facts !== "unknown") this.keeper.setFacts(facts);
    await settle();
  }

  /** Time goes on, in which the threads stamp and pleg relists; answers arrive in between. */
  async step(ms: number, byMs = STAMP_MS): Promise<void> {
    for (let left = ms; left > 0; left -= byMs) {
      this.clock.step(Math.min(left, byMs));
      this.stampAll();
      await settleSome();
    }
  }

  ready(): { status: string; message: string } | undefined {
    const found = this.api.node?.status?.conditions?.find(({ type }) => type === "Ready");
    return found === undefined ? undefined : { status: found.status, message: found.message ?? "" };
  }

  private stampAll(): void {
    if (!this.stuck.has("main")) this.main.stamp();
    if (!this.stuck.has("pleg")) {
      this.pleg.stamp();
      if (!this.stuck.has("relist")) this.pleg.worked();
    }
  }
}

/** Enough turns for a round's calls, which take a few microtasks each. */
async function settleSome(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
