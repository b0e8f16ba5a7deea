// Volumes of in-tree plugins and flexVolume drivers that a controller attaches to this node. The kubelet names them in
// volumesInUse. It uses each volume only after the node's status lists it in volumesAttached.
// Invariant: a volume is in volumesInUse from before its use until it is no longer mounted. So no controller detaches
// it meanwhile.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { NODES } from "../../../shared/kubernetes/api/client/kinds.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { VolumeError } from "../volume-error.js";

/** Longest wait in one attempt; upstream's value. */
const WAIT_MS = 600_000;
const FIRST_LOOK_MS = 100;
const LONGEST_MS = 7_000;

export interface NodeAttachmentsOptions {
  nodeName: string;
  clock: Clock;
  /** Absent on a stand-alone node, where no controller attaches. */
  cluster?: ClusterAccess;
  /** enableControllerAttachDetach. */
  controllerAttaches: boolean;
  /** volumesInUse has changed. */
  onInUse(): void;
}

export class NodeAttachments {
  private readonly names = new Set<string>();

  constructor(private readonly options: NodeAttachmentsOptions) {}

  get nodeName(): string {
    return this.options.nodeName;
  }

  /** False: the kubelet attaches by itself. */
  get byController(): boolean {
    return this.options.cluster !== undefined && this.options.controllerAttaches;
  }

  /** The volume is used, or about to be. Idempotent. */
  use(name: string): void {
    if (this.names.has(name)) return;
    this.names.add(name);
    this.options.onInUse();
  }

  /** Nothing of the volume is mounted on this node any more. */
  forget(name: string): void {
    if (this.names.delete(name)) this.options.onInUse();
  }

  /** For node.status.volumesInUse. */
  inUse(): string[] {
    return [...this.names];
  }

  /** Resolves to the device path that the controller reports. @throws VolumeError, ApiError, or the signal's reason */
  async waitFor(name: string, signal: AbortSignal): Promise<string> {
    const { cluster, clock, nodeName } = this.options;
    const deadline = clock.monotonic() + WAIT_MS;
    for (let delayMs = FIRST_LOOK_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_MS)) {
      const { status } = await joined(cluster).client.get(NODES, { name: nodeName }, { signal });
      const attached = status?.volumesAttached?.find((one) => one.name === name);
      const inUse = status?.volumesInUse?.includes(name) === true;
      if (inUse && attached !== undefined) return attached.devicePath;
      if (clock.monotonic() + delayMs > deadline) {
        throw new VolumeError(
          inUse
            ? `Volume not attached according to node status for volume ${name}: check the attach/detach controller`
            : `Volume has not been added to the list of VolumesInUse in the node's volume status for volume ${name}`,
        );
      }
      await clock.sleep(delayMs, signal);
    }
  }
}
