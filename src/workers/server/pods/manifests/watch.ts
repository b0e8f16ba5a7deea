// GET /manifests/?watch=1: the changes of manifests and their pods, one JSON event per line, as API servers write them.
// Invariant: a watcher receives the newest state, not each one. A slow reader needs one state per manifest and no
// queue. A deleted manifest is shown until its pod is removed from the node.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Scope } from "../../../../shared/base/abort/scope.js";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import type { KeptManifest, ManifestName } from "../../../../shared/contracts/manifests.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { PodList } from "../pod-list.js";
import { podText, type ShownManifest } from "./view.js";

/** On the node. */
const WATCHERS_LIMIT = 64;
/** A client that has not taken a byte for so long is disconnected, as on the status page. */
const STALLED_MS = 30_000;
const WEEK_MS = 7 * 24 * 3600 * 1000;

export interface WatchesOptions {
  pods: Pick<PodList, "get" | "onChange">;
  list: () => Promise<readonly KeptManifest[]>;
  clock: Clock;
}

export class ManifestWatches {
  private readonly wakes = new Set<() => void>();
  private closing = new AbortController();
  private kept: readonly KeptManifest[] = [];
  private stopPods: (() => void) | undefined;

  constructor(private readonly options: WatchesOptions) {}

  get full(): boolean {
    return this.wakes.size >= WATCHERS_LIMIT;
  }

  close(): void {
    this.closing.abort(new Error("the server is closing"));
  }

  /**
   * After each write: the manifests are read again, and the watchers woken. Without a list the watches end: their
   * clients begin again.
   */
  async changed(): Promise<void> {
    if (this.wakes.size === 0) return;
    try {
      this.kept = await this.options.list();
      this.wake();
    } catch {
      this.close();
      this.closing = new AbortController();
    }
  }

  /** Serves one watcher until its client leaves, the timeout or the server's end. `of`: one manifest only. */
  async serve(response: ServerResponse, of: ManifestName | undefined, timeoutMs = WEEK_MS): Promise<void> {
    const signal = new Signal();
    const wake = (): void => signal.set();
    this.wakes.add(wake);
    this.stopPods ??= this.options.pods.onChange(() => this.wake());
    using scope = new Scope(this.closing.signal).limit(this.options.clock, timeoutMs, () => new Error("timeout"));
    const leave = (): void => scope.abort(new Error("the client left"));
    response.once("close", leave);
    scope.signal.addEventListener("abort", wake, { once: true });
    try {
      this.kept = await this.options.list();
      response.writeHead(200, { "Content-Type": "application/json", "Cache-Control": "no-cache, private" });
      response.flushHeaders();
      const view = new WatchedManifests((uid) => this.options.pods.get(uid));
      while (!scope.signal.aborted) {
        const kept = of === undefined ? this.kept : this.kept.filter((one) => isOf(one, of));
        for (const line of view.events(kept)) {
          if (!response.write(line)) await this.drained(response, scope.signal);
        }
        await signal.wait();
      }
    } catch (error) {
      if (!scope.signal.aborted) throw error;
    } finally {
      this.wakes.delete(wake);
      if (this.wakes.size === 0) this.leavePods();
      response.off("close", leave);
      if (!response.destroyed) response.end();
    }
  }

  /** Rejects when the client takes nothing for {@link STALLED_MS}: it would keep a watcher's place. */
  private async drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const stalled = this.options.clock.after(STALLED_MS, () => response.destroy());
    try {
      await once(response, "drain", { signal });
    } finally {
      stalled.cancel();
    }
  }

  /** Without watchers a change of pods costs nothing. */
  private leavePods(): void {
    this.stopPods?.();
    this.stopPods = undefined;
  }

  private wake(): void {
    for (const wake of this.wakes) wake();
  }
}

/** The state that one watcher has received. */
class WatchedManifests {
  private readonly seen = new Map<string, ShownManifest>();

  constructor(private readonly podOf: (uid: PodUid) => ShownManifest["pod"]) {}

  *events(kept: readonly KeptManifest[]): Generator<string> {
    const current = new Set<string>();
    for (const manifest of kept) {
      const key = `${manifest.namespace}/${manifest.name}`;
      current.add(key);
      const before = this.seen.get(key);
      const pod = manifest.uid === undefined ? undefined : this.podOf(manifest.uid);
      if (isSame(before, { manifest, pod })) continue;
      yield this.show(before === undefined ? "ADDED" : "MODIFIED", key, { manifest, pod });
    }
    for (const [key, { manifest, pod }] of this.seen) {
      if (current.has(key)) continue;
      const now = manifest.uid === undefined ? undefined : this.podOf(manifest.uid);
      if (now === undefined) {
        this.seen.delete(key);
        yield event("DELETED", { manifest, pod });
      } else if (now !== pod) yield this.show("MODIFIED", key, { manifest, pod: now });
    }
  }

  private show(type: string, key: string, shown: ShownManifest): string {
    this.seen.set(key, shown);
    return event(type, shown);
  }
}

function event(type: string, shown: ShownManifest): string {
  return `{"type":"${type}","object":${podText(shown)}}\n`;
}

function isSame(before: ShownManifest | undefined, { manifest, pod }: ShownManifest): boolean {
  if (before === undefined) return false;
  return before.pod === pod && before.manifest.resourceVersion === manifest.resourceVersion;
}

function isOf(one: ManifestName, { namespace, name }: ManifestName): boolean {
  return one.namespace === namespace && one.name === name;
}

/** Set between two waits, the second ends at once. */
class Signal {
  private isSet = false;
  private waiter: (() => void) | undefined;

  set(): void {
    this.isSet = true;
    this.waiter?.();
  }

  async wait(): Promise<void> {
    if (!this.isSet) await new Promise<void>((resolve) => (this.waiter = resolve));
    this.isSet = false;
    this.waiter = undefined;
  }
}
