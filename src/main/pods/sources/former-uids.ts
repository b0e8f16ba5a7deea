// Static pods keep the UID that an earlier release of this kubelet computed from the same definition, as long as the
// pod is on the node. The pod's directory is the record: a UID is a hash of the definition, so that a directory of that
// name belongs to this very definition.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { withUid } from "./static-pod-uids.js";

export class FormerUids {
  constructor(
    /** Pods that have a directory on this node. */
    private readonly uidsOnDisk: () => Promise<readonly PodUid[]>,
    private readonly log: Logger,
  ) {}

  /** `former`: the UID of an earlier release by the present one, where they differ. Never rejects. */
  async keep(pods: readonly Pod[], former: Readonly<Record<PodUid, PodUid>> = {}): Promise<Pod[]> {
    if (pods.every(({ metadata }) => former[metadata.uid] === undefined)) return [...pods];
    const onDisk = await this.read();
    return pods.map((pod) => {
      const { uid } = pod.metadata;
      const earlier = former[uid];
      return earlier === undefined || onDisk.has(uid) || !onDisk.has(earlier) ? pod : withUid(pod, earlier);
    });
  }

  private async read(): Promise<ReadonlySet<PodUid>> {
    try {
      return new Set(await this.uidsOnDisk());
    } catch (error) {
      this.log.error(
        { err: error },
        `cannot read which pods are on this node: ${errorText(error)}; static pods whose UID differs from that of an earlier release start again`,
      );
      return new Set();
    }
  }
}
