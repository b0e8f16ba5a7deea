// Pods of every kind that the seed chooses from.

import type { Random } from "../kernel/random.js";
import { portOf } from "../world/pod-servers.js";
import { IMAGES } from "../world/runtime.js";
import { commandOf, type Script } from "../world/scripts.js";
import type { ConfigUse } from "./own-configs.js";

/** Request of each container. */
export const MEMORY = "16Mi";

type PodKind = "service" | "job" | "crash";

interface DiskShape {
  readonly layerMiB: Readonly<Record<string, number>>;
  readonly volumeMiB: Readonly<Record<string, number>>;
  /** What they write beyond that in each second of their first time. */
  readonly growth?: Growth;
  /** Inodes in their layers; absent: the usual ones. */
  readonly inodes?: Readonly<Record<string, number>>;
}

export interface Growth {
  readonly layerMiB: Readonly<Record<string, number>>;
  readonly volumeMiB: Readonly<Record<string, number>>;
  readonly forMs: number;
}

/** What a container writes to its log, besides a first and a last line. */
export interface LogScript {
  /** Pause between two writes, ms, and the lines of each. */
  readonly everyMs: number;
  readonly lines: number;
  /** Characters of the shortest line; the longest has twice as many. */
  readonly length: number;
  /** Each line of so many is cut into records; 0: none. */
  readonly longEvery: number;
  /** After so many writes it is silent for a while. */
  readonly writes: number;
  readonly silentMs: number;
}

export interface PodShape {
  name: string;
  /** Absent: "default". */
  namespace?: string;
  kind: PodKind;
  isStatic: boolean;
  /** The UID that the manifest gives; undefined: the kubelet makes one. */
  uid?: string | undefined;
  graceSeconds: number;
  /** Its containers run until they are stopped, and are healthy. */
  isSteady: boolean;
  /** The kubelet ends it after a while. */
  hasDeadline: boolean;
  /** It is Guaranteed; the whole CPUs that containers of it ask for, by name. */
  cpus?: Readonly<Record<string, number>> | undefined;
  /** Devices that containers of it ask for, by name. */
  devices?: Readonly<Record<string, number>> | undefined;
  /** Memory that containers of it ask for, by name, MiB: on a node that hands out memory. */
  memory?: Readonly<Record<string, number>> | undefined;
  /** What containers of it use, by name, MiB: on a node that runs short of memory. */
  useMiB?: Readonly<Record<string, number>> | undefined;
  /**
   * What containers of it write, by name, MiB, on a node that runs short of disks: to their writable layers, and to the
   * volume "scratch".
   */
  disk?: DiskShape;
  /** Processes of containers of it, by name: on a node that runs short of process ids. */
  processes?: Readonly<Record<string, number>> | undefined;
  /** Logs of its containers, by name: on a node with readers of logs. */
  logs?: Readonly<Record<string, LogScript>>;
  /** ConfigMaps and Secrets that it names. */
  configs?: readonly ConfigUse[];
  /** The persistent volume claim of its first container: on a node with a CSI driver. */
  claim?: string | undefined;
  spec: Record<string, unknown>;
}

export function namespaceOf({ namespace = "default" }: PodShape): string {
  return namespace;
}

function container(random: Random, name: string, script: Partial<Script>): Record<string, unknown> {
  const requests = { cpu: "10m", memory: MEMORY };
  return { name, image: random.pick(IMAGES), command: commandOf(script), resources: { requests } };
}

/** Time of a process after SIGTERM: most end at once, some never. */
function stopsMs(random: Random): number {
  const share = random.next();
  if (share < 0.5) return random.below(200);
  if (share < 0.9) return random.below(20_000);
  return Infinity;
}

/** How the first container is probed. A connection alone tells nothing of readiness. */
function probeAction(random: Random, what: "live" | "ready"): Record<string, unknown> {
  const port = portOf(0);
  switch (random.pick(what === "live" ? ["exec", "http", "tcp"] : ["exec", "http"])) {
    case "http":
      return { httpGet: { path: `/${what}`, port } };
    case "tcp":
      return { tcpSocket: { port } };
    default:
      return { exec: { command: [what] } };
  }
}

export function podShape(random: Random, name: string, isStatic: boolean): PodShape {
  const share = random.next();
  const kind: PodKind = share < 0.6 ? "service" : share < 0.85 ? "job" : "crash";
  const graceSeconds = random.pick([1, 2, 5, 10, 30]);
  const containers = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index) =>
    container(random, `c${index}`, scriptFor(random, kind)),
  );
  let isSteady = kind === "service";
  const [first] = containers;
  if (first !== undefined && kind === "service") {
    if (random.chance(0.4)) {
      const isSick = random.chance(0.3);
      const action = probeAction(random, "live");
      if (isSick) {
        isSteady = false;
        const healthyMs = 20_000 + random.below(120_000);
        first["command"] = commandOf({ stopsMs: stopsMs(random), healthyMs, refuses: "tcpSocket" in action });
      }
      first["livenessProbe"] = {
        ...action,
        periodSeconds: 5,
        failureThreshold: 2,
        timeoutSeconds: 5,
      };
    }
    if (random.chance(0.3)) first["readinessProbe"] = { ...probeAction(random, "ready"), periodSeconds: 3 };
    if (random.chance(0.3)) {
      first["lifecycle"] = { preStop: { exec: { command: ["hook", String(random.below(4000))] } } };
    }
  }
  const initContainers: Record<string, unknown>[] = [];
  if (random.chance(0.3)) initContainers.push(container(random, "init", { runsMs: random.below(3000) }));
  if (random.chance(0.25)) {
    initContainers.push({ ...container(random, "sidecar", { stopsMs: stopsMs(random) }), restartPolicy: "Always" });
  }
  const volumes = random.chance(0.5)
    ? [{ name: "scratch", emptyDir: random.chance(0.3) ? { medium: "Memory" } : {} }]
    : [];
  if (volumes.length > 0 && first !== undefined) first["volumeMounts"] = [{ name: "scratch", mountPath: "/scratch" }];
  // The kubelet ends it, and its object stays.
  const activeDeadlineSeconds = kind === "job" && random.chance(0.3) ? 5 + random.below(60) : undefined;
  if (activeDeadlineSeconds !== undefined && first !== undefined) first["command"] = commandOf({ stopsMs: 200 });
  const spec = {
    restartPolicy: kind === "job" ? random.pick(["Never", "OnFailure"]) : "Always",
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: !isStatic && random.chance(0.3),
    containers,
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(initContainers.length > 0 ? { initContainers } : {}),
    ...(volumes.length > 0 ? { volumes } : {}),
    ...(isStatic && random.chance(0.3) ? { priority: 2_000_001_000, priorityClassName: "system-node-critical" } : {}),
  };
  return { name, kind, isStatic, graceSeconds, isSteady, hasDeadline: activeDeadlineSeconds !== undefined, spec };
}

function scriptFor(random: Random, kind: PodKind): Partial<Script> {
  switch (kind) {
    case "service":
      return { stopsMs: stopsMs(random) };
    case "job":
      return { runsMs: random.below(40_000), exitCode: random.chance(0.3) ? 1 : 0, stopsMs: stopsMs(random) };
    case "crash":
      return { runsMs: 500 + random.below(5000), exitCode: 1 };
  }
}
