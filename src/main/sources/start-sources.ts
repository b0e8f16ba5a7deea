// Starts the configured pod sources and merges their pods into one ordered stream of changes.
import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { Pod } from "../../shared/api/pod.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { ManifestCall, ManifestReply } from "../../shared/contracts/manifests.js";
import { FileSource } from "./file-source.js";
import { HttpSource } from "./http-source.js";
import { PodMerger, type Delivery, type PodChange, type PodSourceName } from "./merge.js";
import type { SubmittedSource } from "./submitted/submitted-source.js";
import { StaticPodUids, type StaticPodUidsOptions } from "./static-pod-uids.js";

export interface SourcesOptions {
  /** File or folder of manifests; absent or "" means no file source. */
  staticPodPath?: string;
  /** Absent or "" means no HTTP source. */
  staticPodURL?: string;
  staticPodURLHeader?: Readonly<Record<string, readonly string[]>>;
  /** Folder of the manifests that clients send to the manifest API; absent: it is off. */
  submittedFolder?: string;
  /** Default 20 s each. */
  fileCheckFrequencyMs?: number;
  httpCheckFrequencyMs?: number;
  /** Gate PreventStaticPodAPIReferences: a static pod that refers to API objects is refused. */
  preventAPIReferences: boolean;
  nodeName: string;
  /** Reports whether static pods run already under UIDs of another kubelet. */
  earlier: Pick<StaticPodUidsOptions, "path" | "uidsOnDisk" | "runningPods">;
  tasks: Pick<TasksPool, "run">;
  log: Logger;
  clock: Clock;
  /** There is an API server: all sources are seen only after its pods, which come through `Sources.api`. */
  withApi?: boolean;
  /** Receives the changes. */
  loop: PodChangeLoop;
}

/** The syncLoop, as the sources see it. */
export interface PodChangeLoop {
  /** Called once per change, in order; never during startSources itself. */
  onPodChange(change: PodChange): void;
  /** Called once, when every configured source has delivered a whole set (after the changes of that set). */
  onSourcesSeen(): void;
  /** Called once, when the sources of static pods have delivered whole sets; only with an API server. */
  onStaticSourcesSeen(): void;
}

/** Takes the pods that the API server has for this node. */
export interface ApiPodsSink {
  /** All there are. */
  replace(pods: readonly Pod[]): void;
  /** One of them came or changed. */
  set(pod: Pod): void;
  drop(uid: string): void;
}

export interface Sources {
  allSourcesSeen(): boolean;
  /** All pods known now, in the order in which they were first delivered. */
  pods(): Pod[];
  readonly api: ApiPodsSink;
  /** A call of the manifest API. Rejects while it is off, or its code cannot be loaded. */
  submitted(call: ManifestCall): Promise<ManifestReply>;
  /** Ends watches, timers and requests; no change is delivered afterwards. */
  stop(): Promise<void>;
}

const CHECK_FREQUENCY_MS = 20_000;

export function startSources(options: SourcesOptions): Sources {
  const { staticPodPath = "", staticPodURL = "", clock } = options;
  const log = moduleLogger(options.log, "sources");
  const names: PodSourceName[] = [];
  if (staticPodPath !== "") names.push("file");
  if (staticPodURL !== "") names.push("http");
  const { submittedFolder } = options;
  if (submittedFolder !== undefined) names.push("submitted");
  if (options.withApi === true) names.push("api");
  const merger = new PodMerger(names, () => clock.nowNanos());
  const conflicts = new Set<string>();
  let stopped = false;
  let announced = false;
  let staticAnnounced = options.withApi !== true;

  const announce = (): void => {
    if (!staticAnnounced && !stopped && merger.staticSourcesSeen()) {
      staticAnnounced = true;
      options.loop.onStaticSourcesSeen();
    }
    if (announced || stopped || !merger.allSourcesSeen()) return;
    announced = true;
    options.loop.onSourcesSeen();
  };
  const onDelivery = ({ changes, conflicts: found }: Delivery): void => {
    for (const change of changes) options.loop.onPodChange(change);
    for (const { uid, source, pod } of found) {
      const key = `${source} ${uid} ${pod}`;
      if (conflicts.has(key)) continue;
      conflicts.add(key);
      log.error({ uid, source, pod }, `pod ${pod} from ${source} has the UID ${uid} of another pod; ignoring it`);
    }
    announce();
  };
  const deliver = (source: PodSourceName) => (pods: readonly Pod[], complete: boolean) => {
    if (!stopped) onDelivery(merger.deliver(source, pods, complete));
  };
  const decode = {
    tasks: options.tasks,
    nodeName: options.nodeName,
    preventAPIReferences: options.preventAPIReferences,
  };

  const sources: (FileSource | HttpSource)[] = [];
  const stops: (() => Promise<void>)[] = [];
  if (staticPodPath !== "") {
    const checkFrequencyMs = positive(options.fileCheckFrequencyMs);
    const path = staticPodPath;
    const source = new FileSource({
      ...{ path, checkFrequencyMs, decode, clock, log },
      deliver: (pods, complete) => uids.deliver(pods, complete),
    });
    const uids = new StaticPodUids({
      ...options.earlier,
      changedAt: (pod) => source.changedAt(pod),
      deliver: deliver("file"),
      ...{ clock, log },
    });
    sources.push(source);
    stops.push(() => uids.stop());
  }
  if (staticPodURL !== "") {
    const checkFrequencyMs = positive(options.httpCheckFrequencyMs);
    const header = options.staticPodURLHeader ?? {};
    const url = staticPodURL;
    sources.push(new HttpSource({ url, header, checkFrequencyMs, decode, clock, log, deliver: deliver("http") }));
  }
  for (const source of sources) source.start();
  const startSubmitted = async (folder: string): Promise<SubmittedSource> => {
    const { SubmittedSource } = await import("./submitted/submitted-source.js");
    const source = new SubmittedSource({ ...decode, folder, clock, log, deliver: deliver("submitted") });
    if (!stopped) source.start();
    return source;
  };
  const submitted = submittedFolder === undefined ? undefined : startSubmitted(submittedFolder);
  submitted?.catch((error: unknown) => log.error({ err: error }, "the manifest API cannot be loaded"));
  stops.push(async () => (await submitted?.catch(() => undefined))?.stop());
  // Without any source there is nothing to wait for; reported after the caller has our return value.
  if (sources.length === 0 && submitted === undefined) queueMicrotask(announce);
  const api: ApiPodsSink = {
    replace: (pods) => deliver("api")(pods, true),
    set: (pod) => {
      if (!stopped) onDelivery(merger.set("api", pod));
    },
    drop: (uid) => {
      if (!stopped) onDelivery(merger.drop("api", uid));
    },
  };

  return {
    allSourcesSeen: () => merger.allSourcesSeen(),
    pods: () => merger.pods(),
    api,
    submitted: async (call) => {
      if (submitted === undefined) throw new Error("the manifest API is off: start the kubelet with --manifest-api");
      return await (await submitted).handle(call);
    },
    stop: async () => {
      stopped = true;
      await Promise.all([...sources.map((source) => source.stop()), ...stops.map((stop) => stop())]);
    },
  };
}

/** Zero means the default, as in the configuration. */
function positive(ms: number | undefined): number {
  return ms === undefined || ms <= 0 ? CHECK_FREQUENCY_MS : ms;
}
