// Makes the configured pod sources and merges their pods into one ordered stream of changes.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Deferred } from "../../../shared/base/turns/deferred.js";
import type { ManifestCall, ManifestReply } from "../../../shared/contracts/manifests.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { TasksPool } from "../../threads/tasks-pool.js";
import type { DecodeOptions } from "./decode-job.js";
import { FileSource } from "./file-source.js";
import { FormerUids } from "./former-uids.js";
import { HttpSource } from "./http-source.js";
import type { ManifestState } from "./manifest-state.js";
import type { PodSourceName } from "./merge.js";
import { PodChanges, type PodChangeLoop } from "./pod-changes.js";
import type { StaticPodUidsOptions } from "./static-pod-uids.js";
import type { SubmittedSource } from "./submitted/submitted-source.js";

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
  /** There is an API server: all sources are seen only after its pods, which come through `Sources.changes`. */
  withApi?: boolean;
  /** Receives the changes. */
  loop: PodChangeLoop;
  /** What `Sources.manifests` returns has changed. */
  onManifests: () => void;
  /** Shortens the termination of the static pod of this name; false: no such pod is being terminated. */
  shorten: (fullName: string, graceSeconds: number) => boolean;
}

export interface Sources {
  allSourcesSeen(): boolean;
  /** All pods known now, in the order in which they were first delivered. */
  pods(): Pod[];
  /** For the pods of the API server, which are delivered as the source "api". */
  readonly changes: Pick<PodChanges, "deliver" | "set" | "drop">;
  /** All manifests that were read or refused. */
  manifests(): Iterable<ManifestState>;
  /** The source whose pod of this UID counts. */
  sourceOf(uid: PodUid): PodSourceName | undefined;
  /**
   * A call of the manifest API. Rejects while it is off, its code cannot be loaded, or the sources have not started.
   */
  submitted(call: ManifestCall): Promise<ManifestReply>;
  /** Nothing is read before. Call once. */
  start(): void;
  /** Ends watches, timers and requests; no change is delivered afterwards. */
  stop(): Promise<void>;
}

const CHECK_FREQUENCY_MS = 20_000;

export function makeSources(options: SourcesOptions): Sources {
  const { staticPodPath = "", staticPodURL = "", clock, onManifests, shorten } = options;
  const log = moduleLogger(options.log, "sources");
  const names: PodSourceName[] = [];
  if (staticPodPath !== "") names.push("file");
  if (staticPodURL !== "") names.push("http");
  const { submittedFolder } = options;
  if (submittedFolder !== undefined) names.push("submitted");
  if (options.withApi === true) names.push("api");
  const changes = new PodChanges({ sources: names, loop: options.loop, clock, log });
  const decode = {
    tasks: options.tasks,
    nodeName: options.nodeName,
    preventAPIReferences: options.preventAPIReferences,
    former: new FormerUids(options.earlier.uidsOnDisk, log),
  };

  const sources = listedSources(options, { decode, changes, log });
  const submitted =
    submittedFolder === undefined
      ? undefined
      : new Deferred<SubmittedSource>({
          name: "the manifest API",
          when: { ms: 0, clock, failed: (error) => log.error({ err: error }, "the manifest API cannot be loaded") },
          async load() {
            const { SubmittedSource } = await import("./submitted/submitted-source.js");
            const source = new SubmittedSource({
              ...decode,
              folder: submittedFolder,
              changes,
              onManifests,
              shorten,
              clock,
              log,
            });
            source.start();
            return source;
          },
          end: (source) => source.stop(),
        });
  return {
    allSourcesSeen: () => changes.allSourcesSeen(),
    pods: () => changes.pods(),
    changes,
    *manifests() {
      for (const source of sources) yield* source.manifests();
      if (submitted?.current !== undefined) yield* submitted.current.manifests();
    },
    sourceOf: (uid) => changes.sourceOf(uid),
    submitted: async (call) => {
      if (submitted === undefined) throw new Error("the manifest API is off: start the kubelet with --manifest-api");
      return await (await submitted.get()).handle(call);
    },
    start() {
      for (const source of sources) source.start();
      submitted?.start();
      // Without any source there is nothing to wait for; reported after the caller's turn.
      if (sources.length === 0 && submitted === undefined) queueMicrotask(() => changes.announce());
    },
    stop: async () => {
      changes.stop();
      await Promise.all([...sources.map((source) => source.stop()), submitted?.stop()]);
    },
  };
}

/** Those that the configuration names. */
function listedSources(
  options: SourcesOptions,
  { decode, changes, log }: { decode: Omit<DecodeOptions, "signal">; changes: PodChanges; log: Logger },
): (FileSource | HttpSource)[] {
  const { staticPodPath = "", staticPodURL = "", clock, onManifests } = options;
  const sources: (FileSource | HttpSource)[] = [];
  if (staticPodPath !== "") {
    const checkFrequencyMs = positive(options.fileCheckFrequencyMs);
    const path = staticPodPath;
    const { earlier } = options;
    sources.push(new FileSource({ path, checkFrequencyMs, decode, earlier, changes, onManifests, clock, log }));
  }
  if (staticPodURL !== "") {
    const checkFrequencyMs = positive(options.httpCheckFrequencyMs);
    const header = options.staticPodURLHeader ?? {};
    const url = staticPodURL;
    sources.push(new HttpSource({ url, header, checkFrequencyMs, decode, changes, onManifests, clock, log }));
  }
  return sources;
}

/** Zero means the default, as in the configuration. */
function positive(ms: number | undefined): number {
  return ms === undefined || ms <= 0 ? CHECK_FREQUENCY_MS : ms;
}
