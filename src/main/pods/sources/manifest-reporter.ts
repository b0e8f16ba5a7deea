// Collects what all sources know about their manifests. After a change it sends the list to the servers' threads, emits
// an event on the node for each new problem, and logs shadowed manifests; sources log the others.
// Invariant: a problem that stays is reported once, however often its manifest is read; a list is bounded (MOST_ITEMS).

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ManifestFacts, ManifestProblem, NodeManifests } from "../../../shared/contracts/manifest-facts.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { ManifestState } from "./manifest-state.js";
import { bounded } from "./manifest-state.js";
import type { ManifestMetrics } from "./metrics.js";
import { shadowedPods, type Shadowed, type ShadowInputs } from "./shadowed-pods.js";

/** Changes within this time are one list. Sources deliver a folder file by file. */
const BATCH_MS = 100;
/** And more for each manifest of the last list, up to a second: the work grows with them. */
const BATCH_MS_EACH = 0.2;
const MOST_BATCH_MS = 1000;
/** Manifests in the list; problems come first. */
const MOST_ITEMS = 500;
/** Pods, and names of pods, of one manifest in the list. */
const MOST_NAMES = 50;

const REASONS = { refused: "InvalidManifest", shadowed: "ShadowedManifest", warning: "ManifestWarning" } as const;

export interface ManifestReporterDeps extends ShadowInputs {
  /** Manifests of every source. */
  manifests: () => Iterable<ManifestState>;
  /** The configured path and URL, as they may be shown. */
  configured: readonly string[];
  publish: (list: NodeManifests) => void;
  events: Pick<EventRecorder, "node">;
  metrics: ManifestMetrics;
  clock: Pick<Clock, "after" | "now">;
  log: Pick<Logger, "error">;
}

export class ManifestReporter {
  private timer: Timer | undefined;
  private stopped = false;
  /** By problem, as `keyOf` names it: since when it is known. */
  private known = new Map<string, number>();
  private published = "";
  /** Manifests in the last list, with those that were left out. */
  private count = 0;

  constructor(private readonly deps: ManifestReporterDeps) {}

  /** A source has read a manifest, or a pod took or left its name. Cheap. */
  readonly changed = (): void => {
    if (this.stopped) return;
    this.timer ??= this.deps.clock.after(
      Math.min(MOST_BATCH_MS, BATCH_MS + Math.ceil(this.count * BATCH_MS_EACH)),
      () => {
        this.timer = undefined;
        this.report();
      },
    );
  };

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private report(): void {
    const { configured, publish, metrics } = this.deps;
    const facts = this.facts();
    this.count = facts.length;
    const wrong = facts.filter(({ problems }) => problems.length > 0);
    const items = [...wrong, ...facts.filter(({ problems }) => problems.length === 0)].slice(0, MOST_ITEMS);
    metrics.set({
      refused: countOf(wrong, "refused"),
      shadowed: countOf(wrong, "shadowed"),
      warned: countOf(wrong, "warning"),
    });
    const list: NodeManifests = { configured: [...configured], items, more: Math.max(0, wrong.length - items.length) };
    const text = JSON.stringify(list);
    if (text === this.published) return;
    this.published = text;
    publish(list);
    this.announce(wrong);
  }

  private facts(): ManifestFacts[] {
    const states = [...this.deps.manifests()].sort((a, b) => (a.origin < b.origin ? -1 : 1));
    const shadows = shadowedPods(states, this.deps);
    return states.map((state) => {
      const { origin, source, pods, refused, warnings } = state;
      const problems: ManifestProblem[] = [...warnings];
      for (const shadow of (shadows.get(state) ?? []).slice(0, MOST_NAMES)) {
        problems.unshift(this.shadowProblem(origin, shadow));
      }
      if (refused !== undefined) {
        const { claims: _claims, ...problem } = refused;
        problems.unshift({ kind: "refused", ...problem });
      }
      return {
        origin,
        source,
        problems,
        pods: pods.slice(0, MOST_NAMES).map(fullName),
        claims: (refused?.claims ?? []).slice(0, MOST_NAMES),
      };
    });
  }

  private shadowProblem(origin: string, { message, pod, runs }: Shadowed): ManifestProblem {
    const problem = {
      kind: "shadowed" as const,
      message: bounded(message),
      field: "metadata.name",
      line: 0,
      column: 0,
    };
    const since = this.known.get(keyOf(origin, problem)) ?? this.deps.clock.now();
    return omitUndefined({ ...problem, since, pod, runs });
  }

  private announce(wrong: readonly ManifestFacts[]): void {
    const { events, log } = this.deps;
    const known = new Map<string, number>();
    for (const { origin, source, problems, pods } of wrong) {
      for (const problem of problems) {
        const key = keyOf(origin, problem);
        known.set(key, problem.since);
        if (this.known.has(key)) continue;
        const { kind, message } = problem;
        const kept = kind === "refused" && pods.length > 0 ? "; the pods of its last good version keep running" : "";
        const text = `${nameOf(source, origin)}${placeOf(problem)}: ${message}${kept}`;
        events.node({ type: "Warning", reason: REASONS[kind], message: bounded(text) });
        if (kind === "shadowed") log.error({ manifest: origin, pod: problem.pod, runs: problem.runs }, text);
      }
    }
    this.known = known;
  }
}

function countOf(manifests: readonly ManifestFacts[], kind: ManifestProblem["kind"]): number {
  return manifests.filter(({ problems }) => problems.some((problem) => problem.kind === kind)).length;
}

/** A file that is moved, or whose text changes, has new problems. */
function keyOf(origin: string, { kind, message, line, column }: Omit<ManifestProblem, "since">): string {
  return `${origin}\n${kind}\n${line}:${column}\n${message}`;
}

function nameOf(source: ManifestFacts["source"], origin: string): string {
  return `manifest ${source === "manifest-api" ? `${origin} of the manifest API` : origin}`;
}

function placeOf({ line, column }: ManifestProblem): string {
  return line === 0 ? "" : `:${line}:${column}`;
}

function fullName({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
