// The rules of `nodelet status`: the current problems of the node, their start times and their remedies. Pure.

import { NO_MANIFESTS } from "../shared/contracts/manifest-facts.js";
import type { ApiServerFacts, DiskFacts, NodeletStatus, ThreadFacts } from "../shared/contracts/nodelet.js";
import { manifestProblems } from "./manifests/problems.js";
import { bytes, duration, moment } from "./output/amounts.js";

export interface Problem {
  severity: "error" | "warning";
  what: string;
  since?: number | undefined;
  help: string;
}

/** Where the runtime looks for the pod network. */
interface CniDirectories {
  readonly confDir: string;
  readonly binDirs: readonly string[];
}

/**
 * The kubelet's answer and, where the network is in question, what the runtime's configuration says. A browser cannot
 * read that.
 */
export type NodeView = NodeletStatus & { readonly cni?: CniDirectories };

/** As the supervisor's own limit: a thread without a tick for so long is restarted. */
const LATE_MS = 10_000;
const EXPIRES_SOON_MS = 14 * 24 * 3_600_000;

export function problemsOf(status: NodeView): Problem[] {
  return [
    ...threadProblems(status),
    ...runtimeProblems(status),
    ...apiServerProblems(status),
    ...pressureProblems(status),
    ...diskProblems(status),
    ...volumeProblems(status),
    ...certificateProblems(status),
    ...startProblems(status),
    ...manifestProblems(status.manifests ?? NO_MANIFESTS),
    ...configurationProblems(status),
  ];
}

function* configurationProblems({ facts }: NodeletStatus): Iterable<Problem> {
  const { error, active } = facts?.configuration ?? {};
  if (error === undefined) return;
  yield {
    severity: "warning",
    what: `the kubelet does not run the assigned configuration, but ${active ?? "another one"}: ${error}`,
    help: "correct the assigned configuration, or assign another one; the kubelet applies each change by itself",
  };
}

function* threadProblems({ threads, mainProblem, now }: NodeletStatus): Iterable<Problem> {
  if (mainProblem !== undefined) {
    yield {
      severity: "error",
      what: `the main thread does not respond (${mainProblem}): no pod is started, changed or stopped`,
      help: "systemd's watchdog restarts a kubelet that stays stuck; report it with `nodelet support-bundle`",
    };
  }
  for (const thread of threads) {
    const { name, lastTickMs, operation } = thread;
    if (!isLate(thread) || lastTickMs === undefined) continue;
    const doing =
      operation === undefined ? "" : `, in the operation "${operation.name}" for ${duration(operation.forMs)}`;
    yield {
      severity: "error",
      what: `the thread ${name} has not run for ${duration(lastTickMs)}${doing}`,
      since: now - lastTickMs,
      help: "the supervisor restarts it by itself; containers keep running",
    };
  }
}

export function isLate({ state, lastTickMs }: ThreadFacts): boolean {
  return state === "running" && lastTickMs !== undefined && lastTickMs > LATE_MS;
}

/** "resting": it runs only while there is work for it. "not needed": it has never run. */
export function threadState({ state, lastTickMs }: ThreadFacts): string {
  return lastTickMs === undefined && state !== "resting" ? "not needed" : state;
}

function* runtimeProblems(status: NodeView): Iterable<Problem> {
  const { facts, runtimeEndpoint } = status;
  const unit = unitOf(status);
  const { runtime, runtimeSince } = facts ?? {};
  if (runtime === undefined) return;
  const name = runtime.name === "" ? "the container runtime" : `the container runtime ${runtime.name}`;
  const why = runtime.message === "" ? "" : `: ${runtime.message}`;
  const at = runtimeSince === undefined ? {} : { since: runtimeSince };
  if (!runtime.reachable) {
    yield {
      severity: "error",
      what: `${name} does not respond at ${runtimeEndpoint}${why}`,
      ...at,
      help: `pods keep running, but none is started or stopped. Start it again: systemctl restart ${unit}; its log: journalctl -u ${unit}`,
    };
  } else if (!runtime.runtimeReady) {
    yield {
      severity: "error",
      what: `${name} reports that it is not ready${why}`,
      ...at,
      help: `see its log: journalctl -u ${unit}`,
    };
  } else if (!runtime.networkReady) {
    yield {
      severity: "error",
      what: `${name} has no pod network${why}; only pods with hostNetwork start`,
      ...at,
      help: cniHelp(status),
    };
  }
}

/** The systemd unit of the node's runtime. */
export function unitOf({ docker, facts, runtimeEndpoint }: NodeletStatus): string {
  if (docker !== undefined || facts?.runtime?.name === "docker" || runtimeEndpoint.includes("docker")) return "docker";
  return runtimeEndpoint.includes("crio") ? "crio" : "containerd";
}

export function cniHelp(status: Pick<NodeView, "docker" | "cni" | "apiServer">): string {
  const network = status.docker?.network;
  const places = status.cni ?? (network?.plugin === "cni" ? network : undefined);
  const where =
    places === undefined
      ? "`nodelet doctor` names what is missing and the folders in which the runtime looks"
      : `its configuration is in ${places.confDir}, its programs in ${places.binDirs.join(" or ")}. \`nodelet doctor\` names what is missing`;
  const fix = status.apiServer === undefined ? "; `nodelet doctor --fix` writes a network if none is configured" : "";
  return `install or repair the CNI plugin: ${where}${fix}`;
}

/** What the API server does instead of serving this node. */
export function apiServerFails({ refused }: Pick<ApiServerFacts, "refused">): string {
  return refused === true ? "refuses the requests of this node" : "does not respond to this node";
}

function* apiServerProblems({ apiServer, facts }: NodeletStatus): Iterable<Problem> {
  if (apiServer?.problem !== undefined) {
    const { server, awaySince } = facts?.api ?? {};
    const where = server === undefined ? "" : ` ${server}`;
    const does = apiServerFails(apiServer);
    const check = server === undefined ? "" : `: \`curl -k ${server}/readyz\` shows whether this node reaches it`;
    yield {
      severity: "error",
      what: `the API server${where} ${does}: ${apiServer.problem}. Pods of this node keep running, with their probes and restarts, and static pods still start and end; pods that are made, changed or deleted in the API follow when it serves this node again`,
      since: awaySince,
      help:
        apiServer.refused === true
          ? "check the node's client certificate, its rights, and that its Node object exists"
          : `check the API server, its address in the kubeconfig, the network and the client certificate${check}`,
    };
  }
  for (const { type, status, reason, message, lastTransitionTime } of facts?.conditions ?? []) {
    if (type !== "Ready" || status === "True") continue;
    const at = typeof lastTransitionTime === "string" ? Date.parse(lastTransitionTime) : NaN;
    yield {
      severity: "error",
      what: `the node is not Ready (${reason ?? status}): ${message ?? ""}`,
      since: Number.isNaN(at) ? undefined : at,
      help: "the message names the part that is not ready",
    };
  }
}

const SHORT_OF = {
  MemoryPressure: ["memory", "`nodelet top` shows the pods that use most"],
  DiskPressure: [
    "disk space or inodes",
    "`df -h; df -i` shows the full disk, `nodelet top` the pods that use most, `nodelet images` the unused images",
  ],
  PIDPressure: ["process ids", "`nodelet top` shows the pods; look for one that forks without end"],
} as const;

function* pressureProblems({ facts, disk }: NodeletStatus): Iterable<Problem> {
  for (const { type, since } of facts?.pressures ?? []) {
    const [what, help] = SHORT_OF[type];
    yield {
      severity: "error",
      what: `the node is short of ${what} (${type}): the kubelet evicts pods and admits no others, except static and critical ones${type === "DiskPressure" && disk !== undefined ? `. ${roomOf(disk)}` : ""}`,
      since,
      help,
    };
  }
}

/** A disk with less room than this counts as full. */
const FULL_SHARE = 0.01;

/** A full disk without pressure: the eviction thresholds do not cover it, or have not taken effect yet. */
function* diskProblems({ disk, facts }: NodeletStatus): Iterable<Problem> {
  if (disk === undefined || facts?.pressures.some(({ type }) => type === "DiskPressure") === true) return;
  const { path, availableBytes, capacityBytes, inodesFree, inodes } = disk;
  const noBytes = availableBytes < capacityBytes * FULL_SHARE;
  const noInodes = inodes > 0 && inodesFree < inodes * FULL_SHARE;
  if (!noBytes && !noInodes) return;
  yield {
    severity: "error",
    what: `the disk of ${path} is full: pods cannot start, and their writes to volumes and logs fail. ${roomOf(disk)}`,
    help: `free space on it: \`df -h ${path}\` names the disk, \`nodelet top\` the pods that write most, \`nodelet images\` the unused images`,
  };
}

/** "12 MiB of 64 MiB are free on the disk of /var/lib/kubelet", and inodes when they are the shortage. */
function roomOf({ path, availableBytes, capacityBytes, inodesFree, inodes }: DiskFacts): string {
  const few = inodes > 0 && inodesFree / inodes < availableBytes / Math.max(capacityBytes, 1);
  const nodes = few ? `, and ${inodesFree} of ${inodes} inodes (files)` : "";
  return `${bytes(availableBytes)} of ${bytes(capacityBytes)} are free on the disk of ${path}${nodes}`;
}

/** Help for an error of the kernel or the runtime about a full disk. */
export function fullDiskHelp(message: string): string[] {
  return /ENOSPC|no space left|EDQUOT|quota exceeded/i.test(message)
    ? [
        "a disk of this node is full: `df -h; df -i` shows which. `nodelet top` shows the pods that write most, `nodelet images` the unused images",
      ]
    : [];
}

function* volumeProblems({ facts }: NodeletStatus): Iterable<Problem> {
  for (const { mountPoint, source, fsType, since } of facts?.hungMounts ?? []) {
    yield {
      severity: "error",
      what: `the volume at ${mountPoint} (${fsType} from ${source}) does not respond: pods that use it wait`,
      since,
      help: `check its server or driver; when it is lost: umount -l ${mountPoint}`,
    };
  }
}

function* certificateProblems({ certificates, now, facts }: NodeletStatus): Iterable<Problem> {
  for (const { use, file, notAfter, problem } of certificates) {
    const purpose = use === "serving" ? "port 10250 (kubectl logs, exec)" : "requests to the API server";
    if (problem !== undefined) {
      if (facts !== undefined && now - facts.startedAt < LATE_MS) continue;
      yield {
        severity: "warning",
        what: `the ${use} certificate ${file} cannot be read: ${problem}`,
        help: `it is needed for ${purpose}`,
      };
    } else if (notAfter !== undefined && notAfter <= now) {
      yield {
        severity: "error",
        what: `the ${use} certificate ${file} expired at ${moment(notAfter)}`,
        since: notAfter,
        help: `it is needed for ${purpose}; renew it, or set rotateCertificates and serverTLSBootstrap`,
      };
    } else if (notAfter !== undefined && notAfter - now < EXPIRES_SOON_MS) {
      yield {
        severity: "warning",
        what: `the ${use} certificate ${file} expires in ${duration(notAfter - now)}, at ${moment(notAfter)}`,
        help: `it is needed for ${purpose}; renew it, or set rotateCertificates and serverTLSBootstrap`,
      };
    }
  }
}

function* startProblems({ facts, devicePluginProblem, now }: NodeletStatus): Iterable<Problem> {
  if (devicePluginProblem !== "") {
    yield {
      severity: "warning",
      what: `device plugins cannot register: ${devicePluginProblem}`,
      help: "see the kubelet's log",
    };
  }
  if (facts !== undefined && !facts.settled && now - facts.startedAt > 30_000) {
    yield {
      severity: "warning",
      what: "not every pod source has delivered its pods since the kubelet started: no pod is removed before",
      since: facts.startedAt,
      help: "a manifest or URL that cannot be read, or an API server that does not respond; the kubelet's log names it",
    };
  }
}
