// Main's upcalls for its threads, and the hook by which tests make a thread fail.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Timelines } from "../timeline/timelines.js";
import type { ThreadOwner } from "../threads/thread-owner.js";
import { THREADS } from "../threads/thread-context.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { Sources } from "../sources/start-sources.js";
import type { EventStore } from "../events/node-recorder.js";
import type { AgentContext } from "./context.js";
import type { FactDeps } from "./facts.js";
import type { NodeCollection } from "./node-collection.js";
import type { SyncPath } from "./sync-path.js";
import type { NodeEviction, NodeEvictionDeps } from "./node-eviction.js";
import type { Logger } from "../../shared/log/logger.js";
import { FAULT_POINTS } from "../../shared/thread/fault-points.js";
import { commitFault, UNCAUGHT_FAULTS } from "../../shared/thread/faults.js";
import type { Breakable } from "../threads/thread-host.js";

export interface ThreadOwnerDeps extends FactDeps, Pick<SyncPath, "probes"> {
  events: EventStore;
  unusedImages: ThreadOwner["unusedImages"];
  timelines: Timelines;
  collection: NodeCollection;
  eviction: LateEviction;
  /** Later than the first question. */
  sources: () => Pick<Sources, "submitted">;
}

export function threadOwner(deps: ThreadOwnerDeps): ThreadOwner {
  const { sync, probes, timelines, membership, collection, eviction, events } = deps;
  return {
    onRecord: (record) => {
      sync.loop.onPlegRecord(record);
      membership?.onRecord(record);
    },
    watches: () => sync.watches(),
    resend: () => sync.cache.resend(),
    pods: () => sync.statuses.all(),
    timeline: (namespace, name) => timelines.show(namespace, name),
    mirrorUid: (namespace, name) => membership?.mirrorUid(namespace, name),
    onProbeRecord: (record) => probes.onRecord(record),
    probedPods: () => probes.probedPods(),
    collection: collection.owner,
    ...eviction.answers,
    nodeFacts: async () => (await import("./facts.js")).nodeFacts(deps),
    podFacts: async (namespace, name) => (await import("./facts.js")).podFacts(deps, namespace, name),
    events: () => events.all(),
    unusedImages: () => deps.unusedImages(),
    manifests: async (call) => deps.sources().submitted(call),
  };
}

/** Returns a function that removes the hook. */
export function hookFaults({ settings, threads, clock, log }: AgentContext): () => void {
  const main = mainThread(clock, log);
  return installFaultHook({
    rootDir: settings.rootDir,
    names: THREADS,
    thread: (name) => (name === "main" ? main : threads.breakable(name)),
    log,
  });
}

/** Creates eviction and disk usage on first use: by the eviction thread or by a reader of disk usage. */
export class LateEviction {
  private joined: Promise<NodeEviction> | undefined;

  constructor(private readonly deps: NodeEvictionDeps) {}

  readonly answers: Pick<ThreadOwner, "eviction" | "podDisks"> = {
    eviction: async () => (await this.join()).eviction,
    podDisks: async (...asked) => (await this.join()).diskUsage.of(...asked),
  };

  /** Ends pending walks. */
  async stop(): Promise<void> {
    await (await this.joined)?.stop();
  }

  private join(): Promise<NodeEviction> {
    return (this.joined ??= import("./node-eviction.js").then(({ joinEviction }) => joinEviction(this.deps)));
  }
}

// Faults for tests that break a thread inside the real process. It exists only with NODELET_FAULTS=1 in the
// environment: SIGUSR2 then makes the kubelet read <rootDir>/nodelet/fault, which holds one line `<fault> <thread>`:
// terminate pleg     the supervisor ends the thread, as a crash would
// hang server        the thread enters a busy loop
// throw-timer main   an error that no caller catches, in a timer; throw-tick: in a callback; reject: in a promise
// throw-in cri-reply main  the next pass through a handler of that kind throws (shared/thread/fault-points.ts)
// heap pleg          the thread fills its heap up to the limit
// hang main          main itself enters a busy loop, from which only SIGKILL delivers
// Invariant: without the variable no handler is installed and nothing here has any effect.

const THROWN = [...UNCAUGHT_FAULTS, ...FAULT_POINTS.map((point) => `throw-in ${point}` as const)];

interface FaultHookOptions {
  rootDir: string;
  /** Every thread that may be named. */
  names: readonly string[];
  /** undefined: the thread does not exist yet. */
  thread: (name: string) => Breakable | undefined;
  log: Logger;
}

/** Installs the hook if the environment variable is set; returns a function that removes it. */
function installFaultHook(options: FaultHookOptions, environment: NodeJS.ProcessEnv = process.env): () => void {
  if (environment["NODELET_FAULTS"] !== "1") return () => undefined;
  const { log } = options;
  const onSignal = (): void => {
    order(options).catch((error: unknown) => log.error({ err: error }, "the ordered fault was not committed"));
  };
  process.on("SIGUSR2", onSignal);
  log.warn("NODELET_FAULTS=1: SIGUSR2 breaks threads on order; for tests only");
  return () => process.off("SIGUSR2", onSignal);
}

/** Lets a test break main as it breaks threads. */
function mainThread(clock: Clock, log: Logger): Breakable {
  return {
    terminate: () => Promise.reject(new Error("main is not terminated: that is the end of the process")),
    commitFault: (fault) => commitFault(fault, clock, log),
  };
}

async function order({ rootDir, names, thread: threadOf, log }: FaultHookOptions): Promise<void> {
  const path = join(rootDir, "nodelet", "fault");
  const words = (await readFile(path, "utf8")).trim().split(" ");
  const name = words.pop() ?? "";
  const fault = words.join(" ");
  const thread = threadOf(name);
  if (thread === undefined) throw new Error(`${path} names no thread of ${names.join(", ")}: "${name}"`);
  log.warn({ fault, thread: name }, `fault ordered: ${fault} ${name}`);
  const thrown = THROWN.find((one) => one === fault);
  if (thrown !== undefined) {
    thread.commitFault(thrown);
    return;
  }
  switch (fault) {
    case "terminate":
      return thread.terminate();
    case "hang":
    case "heap":
      thread.commitFault(fault);
      return;
    default:
      throw new Error(`${path} holds "${fault}": not one of terminate, hang, heap, ${THROWN.join(", ")}`);
  }
}
