// GET /nodelet/status: the node as the server thread sees it, with main's facts where main answers in time.
// Invariant: it answers while main, the runtime or the API server hang.

import { X509Certificate } from "node:crypto";
import { Scope } from "../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ThreadSnapshot } from "../../../shared/base/queue/board.js";
import type { NodeManifests } from "../../../shared/contracts/manifest-facts.js";
import type {
  ApiServerFacts,
  CertificateFacts,
  DiskFacts,
  DockerFacts,
  NodeFacts,
  NodeletStatus,
  ThreadFacts,
} from "../../../shared/contracts/nodelet.js";
import type { AdminInit } from "../../../shared/contracts/server.js";
import { opName } from "../../../shared/contracts/thread-ops.js";
import { readRegularFile } from "../../../shared/io/fs/regular-file.js";
import { ApiError } from "../../../shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { NodeDisks } from "../stats/node-disks.js";

/** Main answers in milliseconds, or hangs. */
const MAIN_MS = 2000;
const API_MS = 3000;
const MAX_CERTIFICATE_BYTES = 256 * 1024;

export interface StatusDeps {
  node: string;
  kubernetesVersion: string;
  rootDir: string;
  runtimeEndpoint: string;
  docker: DockerFacts | undefined;
  certificates: AdminInit["certificates"];
  /** Absent: stand-alone. */
  api: (() => Promise<Pick<ApiClient, "get">>) | undefined;
  devicePluginProblem: () => string;
  manifests: () => NodeManifests;
  disk: NodeDisks["facts"];
  facts: () => Promise<NodeFacts>;
  threads: () => readonly ThreadSnapshot[];
  clock: Clock;
}

export async function nodeletStatus(deps: StatusDeps): Promise<NodeletStatus> {
  const { node, kubernetesVersion, rootDir, runtimeEndpoint, docker, certificates, clock } = deps;
  const [facts, apiServer, disk, read] = await Promise.all([
    mainFacts(deps),
    deps.api === undefined ? undefined : askApiServer(deps.api, node, clock),
    diskFacts(deps),
    Promise.all(certificates.map(certificateFacts)),
  ]);
  return omitUndefined({
    now: clock.now(),
    node,
    kubernetesVersion,
    rootDir,
    runtimeEndpoint,
    docker,
    nodeVersion: process.version,
    pid: process.pid,
    threads: deps.threads().map(threadFacts),
    certificates: read,
    disk,
    apiServer,
    ...facts,
    devicePluginProblem: deps.devicePluginProblem(),
    manifests: withProblems(deps.manifests()),
  });
}

function withProblems({ items, ...list }: NodeManifests): NodeManifests {
  return { ...list, items: items.filter(({ problems }) => problems.length > 0) };
}

async function mainFacts({ facts, clock }: StatusDeps): Promise<Pick<NodeletStatus, "facts" | "mainProblem">> {
  try {
    return { facts: await within(facts(), MAIN_MS, clock) };
  } catch (error) {
    return { mainProblem: messageOf(error) };
  }
}

async function diskFacts({ rootDir: path, disk }: StatusDeps): Promise<DiskFacts | undefined> {
  try {
    const { bsize, blocks, bavail, files, ffree } = await disk(path);
    return {
      path,
      availableBytes: bavail * bsize,
      capacityBytes: blocks * bsize,
      inodesFree: ffree,
      inodes: files,
    };
  } catch {
    // The eviction thread logs a file system that does not respond; the status is about the rest then.
    return undefined;
  }
}

async function within<T>(result: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  using limit = new Scope(undefined).limit(clock, limitMs, () => new Error(`no response within ${limitMs / 1000} s`));
  return await unlessAborted(result, limit.signal);
}

async function askApiServer(
  api: () => Promise<Pick<ApiClient, "get">>,
  name: string,
  clock: Clock,
): Promise<ApiServerFacts> {
  const startedAt = clock.monotonic();
  try {
    const client = await api();
    await client.get(NODES, { name }, { timeoutMs: API_MS });
    return { tookMs: Math.round(clock.monotonic() - startedAt) };
  } catch (error) {
    const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
    return omitUndefined({ problem: messageOf(error), refused: refused ? refused : undefined });
  }
}

async function certificateFacts({ use, file }: AdminInit["certificates"][number]): Promise<CertificateFacts> {
  try {
    const pem = await readRegularFile(file, MAX_CERTIFICATE_BYTES);
    const { subject, validFrom, validTo } = new X509Certificate(pem);
    return { use, file, subject, notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
  } catch (error) {
    return { use, file, problem: messageOf(error) };
  }
}

export function threadFacts(seen: ThreadSnapshot): ThreadFacts {
  const { thread, state, generation, ageMs, loopDelayMaxMicros, queueDepth, op, opAgeMs } = seen;
  return omitUndefined({
    name: thread,
    state,
    starts: generation,
    lastTickMs: Number.isFinite(ageMs) ? Math.round(ageMs) : undefined,
    loopDelayMaxMs: Math.round(loopDelayMaxMicros / 1000),
    queued: queueDepth,
    operation: op !== 0 ? { name: opName(thread, op) ?? `operation ${op}`, forMs: Math.round(opAgeMs) } : undefined,
  });
}
