// What happens in a run, and when: made of the seed before the run begins, so that a report can leave events out.

import type { Random } from "../kernel/random.js";
import { hasSoftThresholds, PLAIN_NODE, type NodeShape } from "../world/node-shape.js";
import type { OtherRelease } from "../world/other-release.js";
import type { PartAction } from "../world/part-actions.js";
import { GrpcProbes } from "./grpc-probes.js";
import { OwnAccounts } from "./own-accounts.js";
import { OwnApiReaders } from "./own-api-readers.js";
import { OwnApiPlan } from "./own-api.js";
import { OwnClaims } from "./own-claims.js";
import { OwnConfigs } from "./own-configs.js";
import { OwnCpus } from "./own-cpus.js";
import { OwnDevices } from "./own-devices.js";
import { OwnDisk } from "./own-disk.js";
import { OwnFullDisks } from "./own-full-disks.js";
import { OwnGrowingWriters } from "./own-growing-writers.js";
import { OwnGrowth } from "./own-growth.js";
import { OwnHealth } from "./own-health.js";
import { OwnImages } from "./own-images.js";
import { OwnInodes } from "./own-inodes.js";
import { OwnLogs } from "./own-logs.js";
import { OwnMemory } from "./own-memory.js";
import { OwnPorts } from "./own-ports.js";
import { OwnProcesses } from "./own-processes.js";
import { OwnPulls } from "./own-pulls.js";
import { OwnReaders } from "./own-readers.js";
import { OwnRefusals } from "./own-refusals.js";
import { OwnResourceClaims } from "./own-resource-claims.js";
import { OwnShutdowns } from "./own-shutdowns.js";
import { OwnStreams } from "./own-streams.js";
import { OwnUse } from "./own-use.js";
import { podShape, type PodShape } from "./pod-shapes.js";

export const FAULT_KINDS = [
  "process",
  "machine",
  "runtime",
  "api",
  "disk",
  "clock",
  "threads",
  "stalls",
  "containers",
  "upgrade",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export type Action =
  | { do: "create"; shape: PodShape }
  | { do: "edit"; name: string; image: string }
  | { do: "resize"; name: string; cpuMillis: number }
  | { do: "delete"; name: string; graceSeconds: number | undefined }
  | { do: "delete-by-force"; name: string }
  | { do: "delete-mirror"; name: string; graceSeconds: number }
  | { do: "kill"; downMs: number }
  | { do: "restart"; downMs: number }
  | { do: "upgrade"; from: OtherRelease; downMs: number }
  /** `loses`: no name that was not synced is left; absent: some are. */
  | { do: "reboot"; downMs: number; loses?: "all" }
  | { do: "runtime-restart"; ms: number }
  | { do: "runtime-error"; verb: string; spec: string; when: "before" | "after" }
  | { do: "api-away"; ms: number }
  | { do: "api-fail"; code: number; share: number; ms: number }
  | { do: "api-slow"; delayMs: number; ms: number }
  | { do: "api-lost-answers"; share: number; ms: number }
  | { do: "watch-cut"; how: "end" | "drop" }
  | { do: "watch-expire" }
  /** `below`: what it meets; absent: the kubelet's directory. */
  | { do: "disk"; kind: "ENOSPC" | "EIO" | "slow"; share: number; ms: number; below?: string }
  | { do: "clock-jump"; ms: number }
  | { do: "thread-crash"; name: string }
  | { do: "thread-stalls"; name: string; ms: number }
  | { do: "process-stalls"; ms: number }
  | { do: "container-dies"; pick: number }
  | { do: "sandbox-dies"; pick: number }
  | { do: "sandbox-vanishes"; pick: number }
  | { do: "sandboxes-pruned" }
  | PartAction
  /** The fault happens while the next call of that kind is under way. */
  | { do: "aim"; verb: string; fault: Action }
  | { do: "calm" }
  | { do: "check" };

/** What the faults of each kind do. */
export const ACTIONS_OF: Readonly<Record<FaultKind, readonly Action["do"][]>> = {
  process: ["kill", "restart"],
  machine: ["reboot"],
  runtime: ["runtime-restart", "runtime-error"],
  api: ["api-away", "api-fail", "api-slow", "api-lost-answers", "watch-cut", "watch-expire"],
  disk: ["disk"],
  clock: ["clock-jump"],
  threads: ["thread-crash"],
  stalls: ["thread-stalls", "process-stalls"],
  containers: ["container-dies", "sandbox-dies", "sandbox-vanishes", "sandboxes-pruned"],
  upgrade: ["upgrade"],
};

export interface PlannedEvent {
  number: number;
  atMs: number;
  action: Action;
}

const MINUTE = 60_000;
/** A round: faults and changes, then calm, then the checks of what must have become of it. */
const BUSY_MS = 8 * MINUTE;
const ROUND_MS = 18 * MINUTE;
const FIRST_MS = 20_000;
/** After the calm one shortage comes without any other fault. */
const QUIET_MS = 2.5 * MINUTE;
/** Without faults they come before, too. */
const QUIET_FIRST_MS = 1.5 * MINUTE;
/** A node for more pods than this gets all of them at the beginning: the rounds alone take hours to fill it. */
const FEW_PODS = 12;

const VERBS = ["RunPodSandbox", "CreateContainer", "StartContainer", "StopContainer", "RemoveContainer"];
const MORE_VERBS = ["StopPodSandbox", "RemovePodSandbox", "PodSandboxStatus", "ContainerStatus", "ListContainers"];
const LAST_VERBS = ["ListPodSandbox", "PullImage", "ImageStatus", "ListImages", "Status"];
const ALL_VERBS = [...VERBS, ...MORE_VERBS, ...LAST_VERBS];
const THREADS = ["pleg", "prober", "server", "image-gc", "eviction", "node-status", "peers"];

/** A Guaranteed pod is resized to so many times more CPU. */
const WHOLE = 20;

/** A fault that is wanted during a call: "kill:StartContainer". */
export type Aim = `${string}:${string}`;

interface PlanOptions {
  hours: number;
  pods: number;
  faults: ReadonlySet<FaultKind>;
  /** Default: a plain node. */
  node?: NodeShape;
  /** In each round. */
  aims?: readonly Aim[] | undefined;
}

export function planOf(
  random: Random,
  { hours, pods, faults, node = PLAIN_NODE, aims = [] }: PlanOptions,
): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  // The other events are those of the plan without aims.
  const aiming = random.stream("aims");
  const add = (atMs: number, action: Action): void => void events.push({ number: 0, atMs, action });
  const alive: PodShape[] = [];
  const own = node.reserved === undefined ? undefined : new OwnCpus(random.stream("own CPUs"), node, alive);
  const namespaces = random.stream("user namespaces");
  const devices = node.devices === 0 ? undefined : new OwnDevices(random.stream("own devices"));
  const memory = node.hasOwnMemory ? new OwnMemory(random.stream("own memory")) : undefined;
  const ports = node.hasHostPorts ? new OwnPorts(random.stream("own ports")) : undefined;
  const probes = node.hasGrpcProbes ? new GrpcProbes(random.stream("gRPC probes")) : undefined;
  const claims = node.hasCsi ? new OwnClaims(random.stream("own claims"), node) : undefined;
  const resources = node.hasDra === true ? new OwnResourceClaims(random.stream("own ResourceClaims")) : undefined;
  const health = node.reportsHealth === true ? new OwnHealth(random.stream("own health")) : undefined;
  const growth = node.expands === true ? new OwnGrowth(random.stream("own growth")) : undefined;
  const configs = node.configs === undefined ? undefined : new OwnConfigs(random.stream("own configs"));
  const refusals = node.refusesSizes === true ? new OwnRefusals(random.stream("own refusals"), false) : undefined;
  const later =
    node.refusesForAWhile === true ? new OwnRefusals(random.stream("own refusals for a while"), true) : undefined;
  const images = node.hasPrivateImages === true ? new OwnImages(random.stream("own images")) : undefined;
  const accounts = node.accounts === undefined ? undefined : new OwnAccounts(random.stream("own accounts"));
  const use = node.isShortOfMemory === true ? new OwnUse(random.stream("own use"), node) : undefined;
  const disks = node.disks === undefined ? undefined : new OwnDisk(random.stream("own disk"), node);
  const writers = node.writersGrow === true ? new OwnGrowingWriters(random.stream("own growing writers")) : undefined;
  const inodes = node.inodesDiffer === true ? new OwnInodes(random.stream("own inodes")) : undefined;
  const full = node.fillsUp === true ? new OwnFullDisks(random.stream("own full disks")) : undefined;
  const processes = node.isShortOfPids === true ? new OwnProcesses(random.stream("own processes"), node) : undefined;
  const shutdowns = node.shutdown === undefined ? undefined : new OwnShutdowns(random.stream("own shutdowns"), node);
  const logs = node.logs === undefined ? undefined : new OwnLogs(random.stream("own logs"));
  const pulls = node.pulls === undefined ? undefined : new OwnPulls(random.stream("own pulls"));
  const readers = node.logs === undefined ? undefined : new OwnReaders(random.stream("readers of logs"));
  const streams = node.streams === undefined ? undefined : new OwnStreams(random.stream("clients of streams"));
  const newPods = random.stream("pods after shutdowns");
  const alone = node.hasOwnApi === true ? new OwnApiPlan(random.stream("users of the own API")) : undefined;
  const followers = node.hasApiReaders === true ? new OwnApiReaders(random.stream("readers of objects")) : undefined;
  const shortages = [hasSoftThresholds(node) ? use : undefined, disks, processes].flatMap((one) => one ?? []);
  const quiet = random.stream("quiet shortages");
  let names = 0;
  const end = hours * 60 * MINUTE;
  const made = (from: Random): PodShape => {
    const plain = podShape(from, `pod-${++names}`, from.chance(0.2));
    const more = [
      claims,
      resources,
      images,
      accounts,
      configs,
      use,
      disks,
      writers,
      inodes,
      processes,
      shutdowns,
      logs,
      pulls,
    ];
    const steps = [own, memory, devices, ports, probes, ...more];
    const shape = steps.reduce((before: PodShape, step) => step?.shape(before) ?? before, plain);
    if (node.hasUserNamespaces && namespaces.chance(0.5)) shape.spec["hostUsers"] = false;
    return shape;
  };
  const create = (at: number): void => {
    const shape = made(random);
    alive.push(shape);
    add(at, { do: "create", shape });
  };
  /** A shutdown ends the pods of the API; new ones come for this round. */
  const shutDown = (at: number, action: Action): void => {
    add(at, action);
    const round = at - (at % ROUND_MS);
    for (const moment of action.do === "shutdown" ? (shutdowns?.newPods(at) ?? []) : []) {
      const shape = made(newPods);
      add(moment, { do: "create", shape });
      add(round + ROUND_MS, { do: "delete", name: shape.name, graceSeconds: undefined });
    }
  };
  for (let at = 5000; pods > FEW_PODS && alive.length < pods; at += 100) create(at);
  for (let begin = 0; begin < end; begin += ROUND_MS) {
    const until = begin + BUSY_MS;
    for (let at = begin + FIRST_MS; at < until; at += random.between(1000, 25_000)) {
      const share = random.next();
      if (alive.length < pods && share < 0.6) create(at);
      else if (alive.length > 0 && share < 0.9) {
        const [shape] = alive.splice(random.below(alive.length), 1);
        const graceSeconds = random.chance(0.15) ? random.pick([0, 1, 60]) : undefined;
        if (shape !== undefined) add(at, { do: "delete", name: shape.name, graceSeconds });
      } else if (alive.length > 0 && share >= 0.96) {
        const { name, cpus } = random.pick(alive);
        const cpuMillis = random.pick([5, 20, 50]);
        add(at, { do: "resize", name, cpuMillis: cpus === undefined ? cpuMillis : WHOLE * cpuMillis });
      } else if (alive.length > 0) {
        add(at, {
          do: "edit",
          name: random.pick(alive).name,
          image: `nodelet.local/${random.pick(["a", "b", "c", "d"])}:1`,
        });
      }
    }
    if (faults.size > 0) {
      for (let at = begin + FIRST_MS; at < until; at += random.between(5000, 60_000)) {
        const fault = faultOf(random, random.pick([...faults]));
        const kinds = [devices, claims, resources, images, accounts, use];
        const ofPlugins = kinds.reduce((found: Action | undefined, one) => found ?? one?.fault(), undefined);
        const shortage = disks?.fault() ?? processes?.fault();
        const usual = shortage ?? ofPlugins ?? own?.fault(fault) ?? fault;
        const action = shutdowns?.fault() ?? usual;
        shutDown(at, alone?.fault(action) ?? action);
      }
    }
    if (faults.size === 0 && shortages.length > 0) {
      for (let at = begin + QUIET_FIRST_MS; at < until; at += quiet.between(40_000, 150_000)) {
        const shortage = quiet.pick(shortages);
        add(at, shortage.fault() ?? shortage.quiet());
      }
    }
    for (const aim of aims) add(begin + FIRST_MS + aiming.below(BUSY_MS - FIRST_MS), aimedAt(aiming, aim));
    for (const one of [health, growth, refusals, later, configs, full, inodes, alone, readers, followers, streams])
      for (const [at, action] of one?.events(begin, until, begin + ROUND_MS) ?? []) add(at, action);
    for (const [at, action] of (faults.size > 0 && pulls?.events(begin, until)) || []) add(at, action);
    for (const [at, action] of (faults.size > 0 && logs?.events(begin, until)) || []) add(at, action);
    for (const [at, action] of (faults.size > 0 && streams?.faults(begin, until)) || []) add(at, action);
    for (const [at, action] of shutdowns?.events(begin, until, faults.size > 0) ?? []) shutDown(at, action);
    add(until, { do: "calm" });
    if (shortages.length > 0) add(until + QUIET_MS, quiet.pick(shortages).quiet());
    add(begin + ROUND_MS - 1000, { do: "check" });
  }
  events.sort((a, b) => a.atMs - b.atMs);
  events.forEach((event, index) => {
    event.number = index + 1;
  });
  return events;
}

function faultOf(random: Random, kind: FaultKind): Action {
  const ms = 1000 + random.below(40_000);
  switch (kind) {
    case "process":
      return { do: random.chance(0.75) ? "kill" : "restart", downMs: random.pick([0, 10, 1000, 20_000]) };
    case "machine":
      return { do: "reboot", downMs: 5000 + random.below(60_000) };
    case "runtime":
      return random.chance(0.25) ? { do: "runtime-restart", ms: random.below(20_000) } : runtimeError(random);
    case "api":
      return apiFault(random, ms);
    case "disk":
      return {
        do: "disk",
        kind: random.pick(["ENOSPC", "EIO", "slow"] as const),
        share: random.pick([0.05, 0.5, 1]),
        ms,
      };
    case "clock":
      return { do: "clock-jump", ms: random.pick([-3_600_000, -60_000, -1500, 1500, 60_000, 3_600_000]) };
    case "threads":
      return { do: "thread-crash", name: random.pick(THREADS) };
    case "stalls":
      return random.chance(0.3)
        ? { do: "process-stalls", ms }
        : { do: "thread-stalls", name: random.pick(THREADS), ms };
    case "containers":
      if (random.chance(0.2)) return { do: "sandboxes-pruned" };
      return {
        do: random.pick(["container-dies", "container-dies", "sandbox-dies", "sandbox-vanishes"] as const),
        pick: random.below(1_000_000),
      };
    case "upgrade":
      return { do: "upgrade", from: random.pick(["older", "newer"] as const), downMs: random.below(5000) };
  }
}

export function isAim(text: string): boolean {
  const [name, verb = "", ...rest] = text.split(":");
  const isFault = Object.values(ACTIONS_OF).some((actions) => actions.some((action) => action === name));
  return isFault && ALL_VERBS.includes(verb) && rest.length === 0;
}

function aimedAt(random: Random, aim: Aim): Action {
  const [name = "", verb = ""] = aim.split(":");
  const kind = FAULT_KINDS.find((one) => ACTIONS_OF[one].some((action) => action === name));
  if (kind === undefined) throw new RangeError(`no fault has the name "${name}"`);
  for (;;) {
    const fault = faultOf(random, kind);
    if (fault.do === name) return { do: "aim", verb, fault };
  }
}

function runtimeError(random: Random): Action {
  const count = 1 + random.below(5);
  const what = random.pick([
    "error(UNAVAILABLE: lost)",
    "error(UNKNOWN: failed)",
    `delay(${random.below(30_000)})`,
    "hang",
  ]);
  const spec = `${what === "hang" ? 1 : count}*${what}`;
  return { do: "runtime-error", verb: random.pick(ALL_VERBS), spec, when: random.pick(["before", "after"] as const) };
}

function apiFault(random: Random, ms: number): Action {
  switch (random.below(6)) {
    case 0:
      return { do: "api-away", ms };
    case 1:
      return { do: "api-fail", code: random.pick([429, 500, 503, 409]), share: random.pick([0.2, 1]), ms };
    case 2:
      return { do: "api-slow", delayMs: random.below(20_000), ms };
    case 3:
      return { do: "api-lost-answers", share: 0.3, ms };
    case 4:
      return { do: "watch-expire" };
    default:
      return { do: "watch-cut", how: random.pick(["end", "drop"] as const) };
  }
}
