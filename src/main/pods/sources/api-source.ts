// The pods that the API server has bound to this node, as a source. The status manager receives every object. The sync
// path receives only changed definitions, so a status that the kubelet wrote itself causes no sync. A terminal pod is
// delivered without its definition, and none of it is kept (docs/adr/0080). A new pod whose definition exceeds the
// budget is known without it, and delivered when there is room.
// Invariant: nothing is delivered before the node is known to the cluster; no pod counts as removed before the whole
// set is here; mirror pods are not pods to run; a definition or spec that did not change is the same object as before;
// an error of one pod in a list keeps no other pod of it from the sync path.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { forEachIsolated } from "../../../shared/base/turns/for-each-isolated.js";
import type { ObjectHead } from "../../../shared/kubernetes/api/client/port.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import { sameJson } from "../../../shared/kubernetes/api/same-json.js";
import { digitsOf, withDigits } from "../../../shared/kubernetes/api/wide-integers.js";
import { podUid, type PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { slimPod } from "../../model/slim-pod.js";
import type { ApiView } from "../status/manager/api-view.js";
import { isMirrorPod } from "../status/manager/api-view.js";
import type { DefinitionBudget } from "./definition-budget.js";
import type { PodChanges } from "./pod-changes.js";

/** Callbacks of a reflector: the whole set after a list, then single changes. */
export interface PodFeed {
  /** Applied to each object as it arrives. */
  trim(object: Pod): Pod;
  /** Pods that have not ended, perhaps before the whole set is here. */
  onUnfinished(pods: readonly Pod[]): void;
  onReplace(pods: readonly Pod[]): void;
  isKnown(uid: PodUid, resourceVersion: string): boolean;
  /** A known pod that has become too large to be read: undefined, if it is unknown. */
  restore(head: ObjectHead): Pod | undefined;
  onEvent(event: { type: "ADDED" | "MODIFIED" | "DELETED"; object: Pod }): void;
}

/** The status manager: called with each object after the view has added or removed it. */
export interface ApiPodsWatcher {
  seen(object: Pod): void;
  dropped(object: Pod): void;
  /** The first whole set is there. */
  synced(): void;
}

/** What this node has of pods. */
interface PodsOnNode {
  /** Something of the pod may be on this node: its definition is needed at once. */
  isTakenOn(uid: PodUid): boolean;
  /** The definition that an earlier kubelet admitted, of a pod that has not ended. */
  keptDefinition(uid: PodUid): Pod | undefined;
}

const CONFIG_SOURCE = "kubernetes.io/config.source";

export class ApiSource implements PodFeed {
  /** Definitions as they were delivered. */
  private readonly definitions = new Map<PodUid, Pod>();
  /** Objects whose definition was dropped for the budget. */
  private readonly bare = new WeakSet<Pod>();
  private open = false;
  private listed = false;

  constructor(
    private readonly changes: Pick<PodChanges, "deliver" | "set" | "drop">,
    private readonly view: ApiView,
    private readonly watcher: ApiPodsWatcher,
    private readonly log: Pick<Logger, "error">,
    /** The last status of a pod that needs its definition no more; undefined: it needs it. */
    private readonly endedStatus: (pod: Pod) => PodStatus | undefined,
    private readonly budget: Pick<DefinitionBudget, "takes" | "decided">,
    private readonly onNode: PodsOnNode,
  ) {}

  /**
   * Drops the definition of a pod that is over, or for which there is no room, before the whole set of a list is in
   * memory.
   */
  trim(object: Pod): Pod {
    if (this.bare.has(object)) return object;
    const { uid, deletionTimestamp } = object.metadata;
    const ended = isMirrorPod(object) ? object.status : this.endedStatus(object);
    if (ended !== undefined) {
      this.budget.decided(uid);
      return slimPod(object, ended);
    }
    if (this.definitions.has(uid) || this.onNode.isTakenOn(uid) || this.budget.takes(object)) return object;
    const slim = slimPod(object);
    // Nothing of it ever ran here: for its deletion the rest is enough.
    if (deletionTimestamp === undefined) this.bare.add(slim);
    else this.budget.decided(uid);
    return slim;
  }

  /** The pod is over: the sync path gets it without its definition. */
  slim(uid: PodUid): void {
    this.budget.decided(uid);
    const known = this.definitions.get(uid);
    if (known === undefined) return;
    const slim = this.trim(known);
    if (slim === known || changedDefinition(known, slim) === known) return;
    this.definitions.set(uid, slim);
    if (this.open && this.listed) this.changes.set("api", slim);
  }

  /** The node is known to the cluster: pods may be admitted. */
  start(): void {
    this.open = true;
    if (this.listed) this.deliverAll();
    else this.deliverFirst();
  }

  onUnfinished(pods: readonly Pod[]): void {
    if (this.listed) return;
    const see = (pod: Pod): void => {
      if (isMirrorPod(pod)) return;
      this.view.list(pod);
      this.record(pod);
    };
    forEachIsolated(pods, see, (error, { metadata }) => this.onFailed(error, metadata.uid));
    if (this.open) this.deliverFirst();
  }

  onReplace(pods: readonly Pod[]): void {
    const listed = new Set(pods.map(({ metadata }) => metadata.uid));
    const gone = this.view.uids().filter((uid) => !listed.has(uid));
    forEachIsolated(
      gone,
      (uid) => this.forget(uid),
      (error, uid) => this.onFailed(error, uid),
    );
    const see = (pod: Pod): void => {
      this.view.list(pod);
      this.record(pod);
    };
    forEachIsolated(pods, see, (error, { metadata }) => this.onFailed(error, metadata.uid));
    this.listed = true;
    if (this.open) this.deliverAll();
  }

  /** The response to our own patch came before its watch event: the event brings nothing new. */
  isKnown(uid: PodUid, resourceVersion: string): boolean {
    return this.definitions.has(uid) && this.view.has(uid, resourceVersion);
  }

  /**
   * Its definition and status are those that were read last, perhaps by an earlier kubelet. Its deletion counts:
   * otherwise a tenant could make a running pod grow, and nothing would stop it.
   */
  restore(head: ObjectHead): Pod | undefined {
    if (head.uid === undefined) return undefined;
    const uid = podUid(head.uid);
    const seen = this.view.get(uid);
    const known = this.definitions.get(uid) ?? seen ?? this.earlierPod(uid, head);
    if (known === undefined) return undefined;
    const { apiVersion, kind, spec } = known;
    const metadata = { ...known.metadata, ...head, uid };
    const pod = omitUndefined<Pod>({ apiVersion, kind, metadata, spec, status: seen?.status });
    return withDigits(pod, known.wideIntegers);
  }

  /** The UID alone is no proof: a server could give that of a static pod. */
  private earlierPod(uid: PodUid, { namespace, name }: ObjectHead): Pod | undefined {
    const kept = this.onNode.keptDefinition(uid);
    if (kept === undefined || isStaticPod(kept)) return undefined;
    return kept.metadata.namespace === namespace && kept.metadata.name === name ? kept : undefined;
  }

  onEvent({ type, object }: { type: "ADDED" | "MODIFIED" | "DELETED"; object: Pod }): void {
    const { uid } = object.metadata;
    if (type === "DELETED") {
      this.forget(uid);
      if (this.open && this.listed) this.changes.drop("api", uid);
      return;
    }
    if (this.isKnown(uid, object.metadata.resourceVersion ?? "")) return;
    const before = this.definitions.get(uid);
    this.record(object, (definition) => {
      if (definition !== before && this.open && this.listed) this.changes.set("api", definition);
    });
  }

  private onFailed(error: unknown, uid: PodUid): void {
    this.log.error({ uid, err: error }, `cannot handle pod ${uid} of the API server: ${messageOf(error)}`);
  }

  /** These may start, and none counts as removed. */
  private deliverFirst(): void {
    if (this.definitions.size > 0) this.changes.deliver("api", [...this.definitions.values()], false);
  }

  private deliverAll(): void {
    this.changes.deliver("api", [...this.definitions.values()], true);
    this.watcher.synced();
  }

  /** Calls `deliver` after the view has the object and before its status is published. */
  private record(whole: Pod, deliver: (definition: Pod) => void = () => undefined): void {
    const object = this.trim(whole);
    const { uid } = object.metadata;
    delete (object.metadata as { managedFields?: unknown }).managedFields;
    // The server's answer to a status patch may be newer than this event; the event's definition counts all the same.
    this.view.put(object);
    if (!isMirrorPod(object) && !this.bare.has(object)) {
      const known = this.definitions.get(uid);
      const definition = known === undefined ? definitionOf(object) : changedDefinition(known, object);
      this.definitions.set(uid, definition);
      deliver(definition);
    }
    this.watcher.seen(this.view.get(uid) ?? object);
  }

  private forget(uid: PodUid): void {
    this.definitions.delete(uid);
    this.budget.decided(uid);
    const object = this.view.drop(uid);
    if (object !== undefined) this.watcher.dropped(object);
  }
}

/** The object as the sync path gets it. Its status is in the view, where it is always the newest. */
function definitionOf(object: Pod): Pod {
  const { metadata, spec } = object;
  const annotations = { ...metadata.annotations, [CONFIG_SOURCE]: "api" };
  // A field that is deleted afterwards makes V8 keep all fields in a table, of 500 bytes a pod.
  const { resourceVersion: _left, ...kept } = metadata;
  const definition: Pod = { apiVersion: "v1", kind: "Pod", metadata: { ...kept, annotations }, spec };
  const wideIntegers = digitsOf(object);
  if (wideIntegers !== undefined) definition.wideIntegers = wideIntegers;
  return definition;
}

/**
 * Known parts stay the same objects: what depends on the spec alone is not computed again when the pod is deleted, or
 * gets a label.
 */
function changedDefinition(known: Pod, object: Pod): Pod {
  const definition = definitionOf(object);
  if (!sameJson(known.spec, definition.spec) || !sameJson(known.wideIntegers, definition.wideIntegers)) {
    return definition;
  }
  return sameJson(known.metadata, definition.metadata) ? known : { ...definition, spec: known.spec };
}
