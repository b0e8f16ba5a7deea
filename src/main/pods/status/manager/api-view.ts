// The newest pod objects of this node from the API server, by the watch or in responses to patches: identity and
// status.
// Invariant: an older version never takes the place of a newer one; a mirror pod is found by its full name; no
// definition is kept.

import type { PodStatus } from "../../../../shared/kubernetes/api/pod-status.js";
import { podFullName, type Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import { podIdentity } from "../../../model/slim-pod.js";

export const CONFIG_MIRROR = "kubernetes.io/config.mirror";

/** The API server's picture of a static pod: not a pod to run. */
export function isMirrorPod(pod: Pick<Pod, "metadata">): boolean {
  return pod.metadata.annotations?.[CONFIG_MIRROR] !== undefined;
}

export class ApiView {
  private readonly pods = new Map<PodUid, Pod>();
  /** By full name. */
  private readonly mirrorUids = new Map<string, PodUid>();
  /** Deleted objects whose watch event has not arrived yet. */
  private readonly deleted = new Set<PodUid>();

  /** Calls `onPut` with every newer version of a pod, from the watch or from a response. */
  constructor(private readonly onPut: (pod: Pod, before: Pod | undefined) => void = () => undefined) {}

  get(uid: PodUid): Pod | undefined {
    return this.pods.get(uid);
  }

  /** It is known at this very version. */
  has(uid: PodUid, resourceVersion: string): boolean {
    return resourceVersion !== "" && this.pods.get(uid)?.metadata.resourceVersion === resourceVersion;
  }

  mirror(fullName: string): Pod | undefined {
    const uid = this.mirrorUids.get(fullName);
    return uid === undefined ? undefined : this.pods.get(uid);
  }

  mirrors(): Pod[] {
    return [...this.mirrorUids.values()].flatMap((uid) => this.pods.get(uid) ?? []);
  }

  get mirrorCount(): number {
    return this.mirrorUids.size;
  }

  /** All objects that the watch has shown or this kubelet has created. */
  uids(): PodUid[] {
    return [...this.pods.keys(), ...this.deleted];
  }

  /** As a list shows it: it counts with any version, since a server's storage may have been put back. */
  list(pod: Pod): void {
    const known = this.pods.get(pod.metadata.uid);
    if (this.deleted.has(pod.metadata.uid)) return;
    this.keep(pod, known);
  }

  /**
   * `replacesSame`: it counts at a known version, too. The watch shows an object that is too large with an earlier
   * status. @returns false when a newer version is known
   */
  put(pod: Pod, replacesSame = false): boolean {
    const { uid, resourceVersion } = pod.metadata;
    if (this.deleted.has(uid)) return false;
    const known = this.pods.get(uid);
    if (known !== undefined && isOlder(resourceVersion, known.metadata.resourceVersion)) return false;
    if (!replacesSame && this.has(uid, resourceVersion ?? "")) return true;
    this.keep(pod, known);
    return true;
  }

  /** The server reported that the object is removed: older events of the watch no longer count. */
  markDeleted(uid: PodUid): Pod | undefined {
    const known = this.drop(uid);
    if (known !== undefined) this.deleted.add(uid);
    return known;
  }

  /** The watch shows that the object was removed. */
  drop(uid: PodUid): Pod | undefined {
    this.deleted.delete(uid);
    const known = this.pods.get(uid);
    if (known === undefined) return undefined;
    this.pods.delete(uid);
    const name = podFullName(known);
    if (this.mirrorUids.get(name) === uid) this.mirrorUids.delete(name);
    return known;
  }

  private keep(object: Pod, known: Pod | undefined): void {
    const pod = withStatus(podIdentity(object), object.status);
    this.pods.set(pod.metadata.uid, pod);
    if (isMirrorPod(pod)) this.mirrorUids.set(podFullName(pod), pod.metadata.uid);
    this.onPut(pod, known);
  }
}

function withStatus(pod: Pod, status: PodStatus | undefined): Pod {
  return status === undefined ? pod : { ...pod, status };
}

/** Versions that are not numbers have no known order. */
function isOlder(version = "", than = ""): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
