// Mirror pods: each static pod has one in the API. One task per full name creates, repairs and deletes it; no sync
// waits for the task.
// Invariant: one task per name at a time, each with its own back-off; nothing is deleted before all static pods are
// known; a deleted mirror pod never terminates the static pod.

import { Lifetime } from "../../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { backoffMs } from "../../../../shared/base/turns/backoff.js";
import { isAlreadyExists } from "../../../../shared/kubernetes/api/client/errors.js";
import { PODS } from "../../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../../shared/kubernetes/api/client/port.js";
import { podFullName, type Pod } from "../../../../shared/kubernetes/api/pod.js";
import { errorText } from "../../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { deleteObject } from "../delete-object.js";
import { type ApiView } from "../manager/api-view.js";
import { type MirrorNode, isMirrorOf, mirrorPod } from "./mirror-pod.js";

const RETRY = { initialMs: 500, maxMs: 30_000 };
/** The node's object is not known yet, which is soon over. */
const NODE_WAIT_MS = 200;

export interface MirrorManagerDeps {
  client: Pick<ApiClient, "create" | "delete" | "get">;
  view: ApiView;
  /** This node's object in the API; undefined: not yet known. */
  node(): MirrorNode | undefined;
  clock: Clock;
  log: Logger;
  /** The mirror pod was created: called at once, before the watch shows it. */
  created: (mirror: Pod) => void;
  deleted: (mirror: Pod) => void;
}

interface Task {
  running: boolean;
  again: boolean;
  failures: number;
  timer?: Timer;
  complaint?: string;
}

export class MirrorManager {
  /** Static pods by full name. */
  private readonly wanted = new Map<string, Pod>();
  private readonly tasks = new Map<string, Task>();
  private readonly work = new Set<Promise<void>>();
  private readonly lifetime = new Lifetime();
  /** The server's pods are known. */
  private synced = false;
  private staticsKnown = false;

  constructor(private readonly deps: MirrorManagerDeps) {}

  /** A static pod is to be shown. */
  want(pod: Pod): void {
    const name = podFullName(pod);
    if (this.wanted.get(name) === pod) return;
    this.wanted.set(name, pod);
    this.schedule(name);
  }

  /** Nothing is left of the static pod with this UID. */
  onStaticPodGone(pod: Pod): void {
    const name = podFullName(pod);
    if (this.wanted.get(name)?.metadata.uid !== pod.metadata.uid) return;
    this.wanted.delete(name);
    this.schedule(name);
  }

  /** The server's pods of this node are in the view. */
  onSynced(): void {
    this.synced = true;
    for (const name of this.wanted.keys()) this.schedule(name);
    this.sweep();
  }

  /** Every source of static pods has delivered, and their pods have workers. */
  onStaticsKnown(): void {
    this.staticsKnown = true;
    this.sweep();
  }

  /** The watch shows the mirror pod, or its removal. */
  onChange(mirror: Pod): void {
    this.schedule(podFullName(mirror));
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    for (const { timer } of this.tasks.values()) timer?.cancel();
    await Promise.all(this.work);
  }

  private sweep(): void {
    if (!this.synced || !this.staticsKnown) return;
    for (const mirror of this.deps.view.mirrors()) this.schedule(podFullName(mirror));
  }

  private schedule(name: string): void {
    if (!this.synced || this.lifetime.hasEnded) return;
    const task = this.tasks.get(name) ?? { running: false, again: false, failures: 0 };
    this.tasks.set(name, task);
    if (task.running) task.again = true;
    else if (task.timer === undefined) this.run(name, task);
  }

  private run(name: string, task: Task): void {
    task.running = true;
    task.again = false;
    const work = this.syncMirror(name, task).finally(() => {
      this.work.delete(work);
      task.running = false;
      if (this.lifetime.hasEnded) return;
      if (task.again && task.timer === undefined) this.run(name, task);
      else if (task.timer === undefined) this.tasks.delete(name);
    });
    this.work.add(work);
  }

  /** Never rejects. */
  private async syncMirror(name: string, task: Task): Promise<void> {
    const node = this.deps.node();
    if (node === undefined) {
      this.retry(name, task, NODE_WAIT_MS);
      return;
    }
    try {
      await this.make(name, node);
      task.failures = 0;
      delete task.complaint;
    } catch (error) {
      if (this.lifetime.hasEnded) return;
      const waitMs = backoffMs(RETRY, ++task.failures);
      const message = errorText(error);
      if (task.complaint !== message) {
        const what = isAlreadyExists(error) ? "a pod that is not its mirror has its name in the API" : message;
        this.deps.log.warn({ pod: name, err: error }, `mirror pod ${name}: ${what}; trying again`);
      }
      task.complaint = message;
      this.retry(name, task, waitMs);
    }
  }

  private async make(name: string, node: MirrorNode): Promise<void> {
    const { client, view, log } = this.deps;
    const { signal } = this.lifetime;
    const mirror = view.mirror(name);
    const pod = this.wanted.get(name);
    if (mirror !== undefined) {
      if (pod !== undefined && isMirrorOf(mirror, pod, node)) return;
      // A static pod whose manifest is still being read is not one that went.
      if (pod === undefined && !this.staticsKnown) return;
      await this.remove(mirror);
    }
    if (pod === undefined) return;
    const made = await client.create(PODS, mirrorPod(pod, node), { signal });
    view.put(made);
    this.deps.created(made);
    log.info({ pod: pod.metadata.uid }, `created mirror pod ${name}`);
  }

  private async remove(mirror: Pod): Promise<void> {
    const { client, view } = this.deps;
    await deleteObject(client, mirror, this.lifetime.signal);
    if (view.markDeleted(mirror.metadata.uid) !== undefined) this.deps.deleted(mirror);
  }

  private retry(name: string, task: Task, waitMs: number): void {
    task.timer = this.deps.clock.after(waitMs, () => {
      delete task.timer;
      this.run(name, task);
    });
  }
}
