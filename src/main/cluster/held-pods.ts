// Pods that have ended on this node and whose objects the API server holds back, because a finalizer is not removed
// yet. They stay in the list of pods, so that an operator sees why they are not gone.
// Invariant: of a pod only identity, finalizers and status are kept, which the view of the API has anyway; the list
// ends with the object.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { withTerminationMark } from "../../shared/kubernetes/api/termination-mark.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { isMirrorPod, type ApiView } from "../pods/status/manager/api-view.js";

export class HeldPods {
  /** Pods of which nothing is left on the node, while their object is there. */
  private readonly ended = new Set<PodUid>();
  private readonly held = new Map<PodUid, { object: Pod; shown: Pod }>();

  constructor(
    private readonly view: Pick<ApiView, "get">,
    /** The pod is shown in another form, or no longer. */
    private readonly changed: (uid: PodUid) => void,
  ) {}

  get(uid: PodUid): Pod | undefined {
    return this.held.get(uid)?.shown;
  }

  *all(): Iterable<Pod> {
    for (const { shown } of this.held.values()) yield shown;
  }

  /** Nothing of the pod is left on this node. */
  removed(uid: PodUid): void {
    if (this.view.get(uid) === undefined) return;
    this.ended.add(uid);
    this.check(uid);
  }

  /** The view has another version of the object. */
  seen(uid: PodUid): void {
    if (this.ended.has(uid)) this.check(uid);
  }

  /** The object is gone. */
  dropped(uid: PodUid): void {
    this.ended.delete(uid);
    this.check(uid);
  }

  private check(uid: PodUid): void {
    const object = this.ended.has(uid) ? this.view.get(uid) : undefined;
    const known = this.held.get(uid);
    if (object === undefined || !isHeld(object)) {
      if (this.held.delete(uid)) this.changed(uid);
      return;
    }
    if (known?.object === object) return;
    this.held.set(uid, { object, shown: shownPod(object) });
    this.changed(uid);
  }
}

function isHeld(object: Pod): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length > 0 && !isMirrorPod(object);
}

/** The names of its containers are in its status. */
function shownPod(object: Pod): Pod {
  const { containerStatuses = [], initContainerStatuses = [] } = object.status ?? {};
  const names = (statuses: typeof containerStatuses) => statuses.map(({ name }) => ({ name }));
  return withTerminationMark(
    {
      ...object,
      spec: omitUndefined({
        containers: names(containerStatuses),
        initContainers: initContainerStatuses.length > 0 ? names(initContainerStatuses) : undefined,
      }),
    },
    "ended",
  );
}
