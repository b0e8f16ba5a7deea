// Pods whose devices are unknown because a checkpoint was damaged: they run, they asked for devices, and no entry says
// which ones they have.
// Invariant: while such a pod runs, no device of a resource that it asked for is allocated to another pod. This holds
// after further restarts, too: the damaged file that was set aside is the evidence.
import type { Pod } from "../../../shared/api/pod.js";
import { podDescription } from "../../../shared/api/pod.js";
import { containersOf } from "../../../shared/api/pod-containers.js";
import { containerRequests } from "./device-requests.js";
import type { GrantedDevices } from "./granted-devices.js";
import { DevicePluginError } from "./plugin-port.js";

/** A checkpoint that existed and could not be used. */
export interface LostCheckpoint {
  /** Where it was. */
  path: string;
  /** Where it is now; undefined: it could not be renamed. */
  aside: string | undefined;
}

export interface UnknownDevicesOptions {
  granted: Pick<GrantedDevices, "ids" | "has">;
  /** Admitted pods that have not ended. */
  pods: () => Iterable<Pod>;
  /** UIDs of pods of which a sandbox or container runs, known to the kubelet or not. */
  runningPods: () => Iterable<string>;
}

/** Pods named in a message; the others are counted. */
const NAMED_PODS = 5;

export class UnknownDevices {
  /** Running pods of which no definition is known yet: each may have devices of any resource. Set at the first check. */
  private undefinedPods: Set<string> | undefined;

  constructor(
    private readonly lost: LostCheckpoint,
    private readonly options: UnknownDevicesOptions,
  ) {}

  /** @throws DevicePluginError while another pod may have devices of the resource that no entry names */
  check(resource: string, podUid: string): void {
    const holders = this.holders(resource).filter(({ uid }) => uid !== podUid);
    if (holders.length === 0) return;
    const { path, aside } = this.lost;
    const kept = aside === undefined ? "" : ` (kept as ${aside})`;
    const named = holders.slice(0, NAMED_PODS).map(({ name }) => name);
    const more = holders.length > NAMED_PODS ? ` and ${holders.length - NAMED_PODS} more` : "";
    throw new DevicePluginError(
      `the device checkpoint ${path} could not be read${kept}, so the ${resource} devices of running pods are unknown; ` +
        `drain the node, or delete these pods: ${named.join(", ")}${more}`,
    );
  }

  private holders(resource: string): { uid: string; name: string }[] {
    const known = new Map([...this.options.pods()].map((pod) => [pod.metadata.uid, pod]));
    const running = new Set(this.options.runningPods());
    const asking = [...known.values()].filter((pod) => running.has(pod.metadata.uid) && this.hasUnknown(pod, resource));
    return [
      ...asking.map((pod) => ({ uid: pod.metadata.uid, name: podDescription(pod) })),
      ...this.withoutDefinition(known, running).map((uid) => ({ uid, name: `the pod with UID ${uid}` })),
    ];
  }

  private hasUnknown({ metadata, spec }: Pod, resource: string): boolean {
    return containersOf(spec).some(
      (container) =>
        containerRequests(container).has(resource) &&
        this.options.granted.ids(metadata.uid, container.name, resource) === undefined,
    );
  }

  /** Only those of the first check: pods that run later were admitted by this kubelet. */
  private withoutDefinition(known: ReadonlyMap<string, Pod>, running: ReadonlySet<string>): string[] {
    this.undefinedPods ??= new Set(running);
    for (const uid of this.undefinedPods) {
      if (known.has(uid) || !running.has(uid) || this.options.granted.has(uid)) this.undefinedPods.delete(uid);
    }
    return [...this.undefinedPods];
  }
}
