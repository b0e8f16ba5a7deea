// One simulated node of one seed: machine, runtime, API server, kubelet, and what the plan does to them.

import { pino } from "pino";
import type { CriVerb } from "../../../src/shared/kubernetes/cri/verbs.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import type { Random } from "../kernel/random.js";
import type { Trace } from "../kernel/trace.js";
import { ENDS_OF_KUBELET, NO_FAULTS, SHORTAGES, SHUTDOWNS } from "../plan/action-kinds.js";
import type { Action, PlannedEvent } from "../plan/events.js";
import { Aims } from "./aims.js";
import { SimulatedApi } from "./api.js";
import { AttachController } from "./attach-controller.js";
import { ClaimController } from "./claim-controller.js";
import { ClaimGrowth } from "./claim-growth.js";
import type { ClusterView } from "./cluster-view.js";
import { ConfigObjects } from "./config-objects.js";
import { ContainerCgroups } from "./container-cgroups.js";
import { ContainerFiles } from "./container-files.js";
import { ContainerLogs } from "./container-logs.js";
import { CsiPlugin } from "./csi-plugin.js";
import { DevicePlugin } from "./device-plugin.js";
import { DiskUse } from "./disk-use.js";
import { DraPlugin } from "./dra-plugin.js";
import { ImageLayers } from "./image-layers.js";
import { KubeletLife } from "./kubelet-life.js";
import type { Kubelet } from "./kubelet.js";
import { LogReaders } from "./log-readers.js";
import { disarmCompression } from "./log-tasks.js";
import { Losses } from "./losses.js";
import { bootAnew, makeMachineFiles, ROOT } from "./machine-files.js";
import { machine } from "./machine.js";
import { MemoryUse } from "./memory-use.js";
import { NodePort } from "./node-port.js";
import { isShort, type NodeShape } from "./node-shape.js";
import { ClusterObjects } from "./object-clients.js";
import { rewriteRecords } from "./other-release.js";
import { OwnApiUsers } from "./own-api-users.js";
import { performPart, type Effect } from "./part-actions.js";
import { PodChanges } from "./pod-changes.js";
import { ClusterPods } from "./pod-clients.js";
import { AllFacts } from "./pod-facts.js";
import { servePods } from "./pod-servers.js";
import { makePriorities } from "./priorities.js";
import { ProcessUse } from "./process-use.js";
import { PrivateRegistries } from "./registry.js";
import { RuntimeRoom } from "./runtime-room.js";
import { SimulatedRuntime } from "./runtime.js";
import { accountProvider, ServiceAccounts } from "./service-accounts.js";
import { Shutdowns } from "./shutdowns.js";
import { Signals } from "./signals.js";
import { StreamClients } from "./stream-clients.js";

export interface LogLine {
  level: number;
  msg: string;
  /** The cause of an eviction that the line reports, and the pod's grace period in seconds. */
  signal?: string;
  graceSeconds?: number;
}

export class World {
  readonly facts = new AllFacts();
  readonly runtime: SimulatedRuntime;
  readonly api: ClusterView;
  readonly onLog = new Set<(line: LogLine) => void>();
  /** Hears of each event of the plan, before it happens. */
  readonly onEvent = new Set<(action: Action) => void>();
  /** Hears of each fault, before it happens. */
  readonly onFault = new Set<(kind: Action["do"]) => void>();
  readonly onGaveUp = new Set<(reason: string) => void>();
  /** Undefined: the node belongs to a cluster. */
  readonly own: OwnApiUsers | undefined;
  /** Undefined: pods have no cgroups. */
  readonly cgroups: ContainerCgroups | undefined;
  /** Undefined: the node runs short of nothing. */
  readonly signals: Signals | undefined;
  /** Undefined: memory is never short. */
  readonly memory: MemoryUse | undefined;
  /** Undefined: disks are never short. */
  readonly disks: DiskUse | undefined;
  /** Undefined: the runtime always has room. */
  readonly room: RuntimeRoom | undefined;
  /** Undefined: there are always process ids. */
  readonly processes: ProcessUse | undefined;
  /** Undefined: the node has no CSI driver. */
  readonly csi: CsiPlugin | undefined;
  /** Undefined: its volumes keep their sizes. */
  readonly growth: ClaimGrowth | undefined;
  /** Undefined: its volumes need not be attached. */
  readonly attachments: AttachController | undefined;
  /** Undefined: the node has no DRA driver. */
  readonly dra: { driver: DraPlugin; claims: ClaimController } | undefined;
  /** Undefined: no pod names ConfigMaps or Secrets. */
  readonly configs: ConfigObjects | undefined;
  /** Volumes as containers see them. Undefined: as `configs`. */
  readonly files: ContainerFiles | undefined;
  /** Undefined: containers write nothing. */
  readonly logs: ContainerLogs | undefined;
  /** Undefined: as `logs`. */
  readonly readers: LogReaders | undefined;
  /** Undefined: images are pulled at once. */
  readonly layers: ImageLayers | undefined;
  /** Undefined: no client execs, attaches or forwards ports. */
  readonly streams: StreamClients | undefined;
  /** Undefined: all images are public. */
  readonly registries: PrivateRegistries | undefined;
  /** Undefined: no credential provider asks for service accounts. */
  readonly accounts: ServiceAccounts | undefined;
  /** Undefined: the machine never shuts down in order. */
  readonly shutdowns: Shutdowns | undefined;
  /** Undefined: the node has no device plugin. */
  readonly plugin: DevicePlugin | undefined;
  /** What the API server of a cluster does; a node without one has the agent's own. */
  readonly cluster = new SimulatedApi();
  private readonly losses: Losses;
  private readonly changes: PodChanges;
  private readonly aims: Aims;
  private readonly life: KubeletLife;

  constructor(
    readonly random: Random,
    readonly trace: Trace,
    readonly node: NodeShape,
  ) {
    disk.seed(random.stream("disk"));
    this.aims = new Aims(random, trace, (fault) => this.act(fault));
    machine.cpus = node.cpus;
    makeMachineFiles(node);
    const { cluster } = this;
    if (node.hasOwnApi === true) this.own = new OwnApiUsers(trace, node.hasApiReaders === true);
    this.api = this.own?.api ?? cluster;
    machine.api = this.own?.api ?? cluster;
    machine.ownApi = this.own?.api;
    this.runtime = machine.runtime = new SimulatedRuntime({ events: random.stream("shape").chance(0.5) });
    servePods(this.runtime);
    const { attaches: attachRequired = false, expands = false, hasLoneVolume = false } = node;
    if (node.hasCsi) this.csi = new CsiPlugin(cluster, { attachRequired, expands, hasLoneVolume });
    if (expands && this.csi !== undefined) this.growth = new ClaimGrowth(cluster, this.csi);
    if (node.attaches === true) this.attachments = new AttachController(cluster);
    if (node.hasDra === true) {
      const driver = new DraPlugin(cluster, node.reportsHealth === true);
      this.dra = { driver, claims: new ClaimController(cluster) };
      driver.onEffect.add((verb, claims) => {
        trace.add(`dra ${verb} ${claims.join(" ")}`);
        this.aims.onCall(verb);
      });
    }
    const users = this.own?.objects ?? new ClusterObjects(cluster);
    const providers = node.accounts === undefined ? [] : [accountProvider(node.accounts)];
    if (node.hasPrivateImages === true) this.registries = new PrivateRegistries(users, this.runtime, providers);
    if (node.accounts !== undefined) this.accounts = new ServiceAccounts(cluster, this.runtime);
    if (node.configs !== undefined) {
      this.configs = new ConfigObjects(this.api, users);
      this.files = new ContainerFiles(this.runtime);
    }
    if (node.pulls !== undefined)
      this.layers = new ImageLayers(random.stream("layers"), this.runtime, trace, (fault) => this.act(fault));
    if (node.logs !== undefined || node.streams !== undefined) machine.nodePort = new NodePort();
    if (node.streams !== undefined) this.streams = new StreamClients(this.runtime, trace, random.stream("streams"));
    if (node.logs !== undefined) {
      this.logs = new ContainerLogs(this.runtime, this.facts, node.logs);
      this.readers = new LogReaders(this.logs, trace, random.stream("readers"));
    }
    if (node.hasPodCgroups) this.cgroups = new ContainerCgroups(this.runtime);
    if (isShort(node)) {
      const signals = (this.signals = new Signals(node));
      if (node.isShortOfMemory === true) this.memory = new MemoryUse(this.runtime, this.facts, signals);
      if (node.disks !== undefined) this.disks = new DiskUse(node, this.runtime, this.facts, signals);
      if (this.disks !== undefined && node.runtimeNeedsRoom === true)
        this.room = new RuntimeRoom(random.stream("room of the runtime"), this.disks, this.runtime);
      if (node.isShortOfPids === true) this.processes = new ProcessUse(this.runtime, this.facts, signals);
    }
    if (node.hasUserNamespaces) {
      const features = { recursiveReadOnlyMounts: false, userNamespaces: true };
      this.runtime.settings.runtimeHandlers.push({ name: "", features });
    }
    if (node.devices > 0)
      this.plugin = new DevicePlugin(node.devices, node.layout?.sockets ?? 1, node.prefers === true);
    this.runtime.watchers.add((verb) => this.aims.onCall(verb));
    this.changes = new PodChanges(this.own?.pods ?? new ClusterPods(cluster), this.runtime, this.facts);
    this.losses = new Losses(this.runtime, this.facts, trace);
    this.life = new KubeletLife({
      ...{ node, facts: this.facts, trace },
      log: pino({ level: "info", base: null }, { write: (text: string) => this.logged(text) }),
      starts: () => this.signals?.kubeletStarts(),
      gaveUp: (reason) => {
        for (const listener of this.onGaveUp) listener(reason);
      },
    });
    if (node.writersGrow === true || node.shutdown !== undefined) makePriorities(cluster);
    if (node.shutdown !== undefined) this.shutdowns = this.makeShutdowns();
    this.facts.losesEndedPods = node.shutdown !== undefined && node.disks !== undefined;
    this.life.start();
  }

  get kubelet(): Kubelet | undefined {
    return this.life.kubelet;
  }

  perform({ number, action }: PlannedEvent): void {
    const { do: name, ...rest } = action;
    const about = action.do === "create" ? `${action.shape.name} ${action.shape.kind}` : JSON.stringify(rest);
    this.trace.add(`event ${number} ${name} ${about}`);
    for (const listener of this.onEvent) listener(action);
    this.act(action);
  }

  /** UID of the pod that a call of the runtime is about. */
  podUidOf(request: unknown): string | undefined {
    const { config, containerId, podSandboxId } = request as {
      config?: { metadata?: { uid?: string } };
      containerId?: string;
      podSandboxId?: string;
    };
    const { containers, sandboxes } = this.runtime.state;
    const sandboxId = podSandboxId ?? containers.get(containerId ?? "")?.sandboxId ?? "";
    return config?.metadata?.uid ?? sandboxes.get(sandboxId)?.config.metadata?.uid;
  }

  kill(downMs: number): void {
    this.act({ do: "kill", downMs });
  }

  private act(action: Action): void {
    const { cluster: api, runtime, facts } = this;
    if (!NO_FAULTS.has(action.do)) {
      facts.lastFaultAt = kernel.monotonic;
      if (!SHORTAGES.has(action.do) && !SHUTDOWNS.has(action.do)) facts.disturbed(kernel.monotonic);
      for (const listener of this.onFault) listener(action.do);
    }
    if (!NO_FAULTS.has(action.do) && !ENDS_OF_KUBELET.has(action.do)) facts.faultEnded(kernel.monotonic);
    switch (action.do) {
      case "create":
        this.changes.create(action.shape);
        return;
      case "edit":
        this.changes.edit(action.name, action.image);
        return;
      case "resize":
        this.changes.resize(action.name, action.cpuMillis);
        return;
      case "delete":
        this.changes.remove(action.name, action.graceSeconds);
        return;
      case "delete-by-force":
        this.changes.removeByForce(action.name);
        return;
      case "delete-mirror":
        this.changes.removeMirror(action.name, action.graceSeconds);
        return;
      case "kill":
        this.life.kill(action.downMs);
        return;
      case "restart":
        this.life.restart(action.downMs);
        return;
      case "upgrade":
        // Another release was installed: the next start finds records as the other one writes them.
        this.life.kill(action.downMs);
        this.trace.add(`${rewriteRecords(action.from)} records of another release`);
        return;
      case "reboot":
        this.reboot(action);
        return;
      case "runtime-restart":
        runtime.restart(action.ms);
        this.during(action.ms, () => undefined);
        return;
      case "runtime-error":
        runtime.failpoints.set(action.verb as CriVerb, action.spec, { when: action.when });
        // The calls that meet it may come at any time until the calm.
        facts.lastOtherFaultAt = facts.lastDisturbedAt = Infinity;
        return;
      case "api-away":
        api.goAway(action.ms);
        this.during(action.ms, () => undefined);
        return;
      case "api-fail":
        this.during(action.ms, api.faults.fail({}, { code: action.code, retryAfter: 1 }, { share: action.share }));
        return;
      case "api-slow":
        this.during(action.ms, api.faults.delay({}, action.delayMs, { share: 0.5 }));
        return;
      case "api-lost-answers":
        this.during(action.ms, api.faults.drop({}, "after", { share: action.share }));
        return;
      case "watch-cut":
        api.faults.cutWatchesNow(action.how);
        return;
      case "watch-expire":
        api.faults.expireWatches();
        return;
      case "disk": {
        const fault = { kind: action.kind, share: action.share, below: action.below ?? ROOT };
        disk.fault = fault;
        this.life.noteUnreadableStart();
        this.during(action.ms, () => {
          if (disk.fault === fault) disk.fault = undefined;
        });
        return;
      }
      case "clock-jump":
        kernel.jump(action.ms);
        return;
      case "thread-crash":
        this.kubelet?.threads.crash(action.name);
        return;
      case "thread-stalls":
        this.kubelet?.threads.stall(action.name, action.ms);
        this.during(action.ms, () => undefined);
        return;
      case "process-stalls":
        this.kubelet?.stall(action.ms);
        this.during(action.ms, () => undefined);
        return;
      case "container-dies":
        this.losses.endContainer(action.pick);
        return;
      case "sandbox-dies":
        this.losses.endSandbox(action.pick);
        return;
      case "sandbox-vanishes":
        this.losses.forgetPod(action.pick);
        return;
      case "sandboxes-pruned":
        this.losses.pruneSandboxes();
        return;
      case "aim":
        this.aims.add(action);
        return;
      case "calm":
        this.calm();
        return;
      case "check":
        return;
      default:
        this.perceive(performPart(this, action));
    }
  }

  /** An action on a part of the node excuses other promises for so long. */
  private perceive({ disturbsMs, shortMs }: Effect): void {
    if (disturbsMs !== undefined) this.during(disturbsMs, () => undefined);
    if (shortMs === undefined) return;
    kernel.after(kernel.world, shortMs, () => this.facts.faultEnded(kernel.monotonic));
  }

  private reboot({ downMs, loses }: Extract<Action, { do: "reboot" }>): void {
    this.life.reboot(downMs, () => {
      this.runtime.reboot();
      disk.crash(loses === "all");
      this.bootAnew();
    });
  }

  private bootAnew(): void {
    this.csi?.reboot();
    this.dra?.driver.reboot();
    this.disks?.reboot();
    this.logs?.reboot();
    this.layers?.reboot();
    this.shutdowns?.reboot();
    bootAnew();
  }

  private makeShutdowns(): Shutdowns {
    const shutdowns = new Shutdowns({
      facts: this.facts,
      trace: this.trace,
      life: () => this.life,
      lost: () => {
        for (const listener of this.onFault) listener("reboot");
        this.runtime.reboot();
        disk.syncAll();
        disk.crash(false);
        this.bootAnew();
      },
      act: (action) => this.act(action),
    });
    this.onFault.add((kind) => {
      if (kind !== "shutdown") shutdowns.disturbed();
    });
    // A kubelet that missed the end of a shutdown goes on with it.
    this.onLog.add(({ msg }) => {
      if (msg.startsWith("shutdown: killing")) shutdowns.disturbPods();
    });
    return shutdowns;
  }

  /** All faults end. */
  private calm(): void {
    this.aims.clear();
    this.layers?.clear();
    disarmCompression();
    this.runtime.failpoints.clear();
    this.cluster.faults.clear();
    this.cluster.isUp = true;
    disk.fault = undefined;
    this.facts.lastFaultAt = this.facts.lastOtherFaultAt = this.facts.lastDisturbedAt = kernel.monotonic;
    this.life.start();
  }

  private during(ms: number, end: () => void): void {
    kernel.after(kernel.world, ms, () => {
      this.facts.faultEnded(kernel.monotonic);
      this.facts.disturbed(kernel.monotonic);
      end();
    });
  }

  private logged(text: string): void {
    const { err, ...line } = JSON.parse(text) as LogLine & { err?: { message?: string } };
    const { level, msg } = line;
    if (level >= 40) this.trace.add(`log ${level} ${msg}${err?.message === undefined ? "" : ` (${err.message})`}`);
    for (const listener of this.onLog) listener(line);
  }
}
