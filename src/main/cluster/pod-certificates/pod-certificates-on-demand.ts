// Certificates of pods on a node that has no such pod yet, and perhaps never will. The first such pod loads the
// certificate manager.
// Invariant: a pod that went while it was loaded is not taken up.

import { Deferred } from "../../../shared/base/turns/deferred.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { PodCertificates, PodCertificateSource, PodCredential } from "../../model/cluster-access.js";
import type { NodePodCertificates, PodCertificatesDeps } from "./pod-certificates.js";

export class PodCertificatesOnDemand implements PodCertificates {
  private readonly manager: Deferred<NodePodCertificates>;
  /** Pods that came before it was loaded. */
  private readonly early = new Map<PodUid, Pod>();
  private stopped = false;

  /** @param deps undefined: gate PodCertificateRequest is off */
  constructor(
    private readonly deps: PodCertificatesDeps | undefined,
    private readonly log: Logger,
  ) {
    this.manager = new Deferred({
      name: "the pod certificate manager",
      when: "first use",
      load: () => this.open(),
      end: (manager) => manager.stop(),
    });
  }

  wanted(pod: Pod): void {
    if (this.deps === undefined || this.stopped) return;
    if (this.manager.current !== undefined) {
      this.manager.current.wanted(pod);
      return;
    }
    this.early.set(pod.metadata.uid, pod);
    this.manager.get().catch((error: unknown) => {
      this.log.error({ err: error }, `cannot load the pod certificate manager: ${errorText(error)}`);
    });
  }

  podRemoved(uid: PodUid): void {
    this.early.delete(uid);
    this.manager.current?.podRemoved(uid);
  }

  async get(source: PodCertificateSource, signal: AbortSignal): Promise<PodCredential> {
    if (this.deps !== undefined) return (await this.manager.get()).get(source, signal);
    const { PodCertificateError } = await import("./errors.js");
    throw new PodCertificateError(
      "podCertificate projections are off on this node: set its feature gate PodCertificateRequest",
    );
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.early.clear();
    await this.manager.stop();
  }

  private async open(): Promise<NodePodCertificates> {
    const { NodePodCertificates } = await import("./pod-certificates.js");
    if (this.deps === undefined) throw new Error("gate PodCertificateRequest is off");
    const loaded = new NodePodCertificates(this.deps);
    if (!this.stopped) for (const pod of this.early.values()) loaded.wanted(pod);
    this.early.clear();
    return loaded;
  }
}
