// Certificates of pods on a node that has no such pod yet, and perhaps never will. The first such pod loads the certificate manager.
// Invariant: a pod that went while it was loaded is not taken up.
import type { Pod } from "../../../shared/api/pod.js";
import { errorText } from "../../../shared/log/error-text.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { PodCertificates, PodCertificateSource, PodCredential } from "../../model/cluster-access.js";
import type { NodePodCertificates, PodCertificatesDeps } from "./pod-certificates.js";

export class LazyPodCertificates implements PodCertificates {
  private loading: Promise<NodePodCertificates> | undefined;
  private loaded: NodePodCertificates | undefined;
  /** Pods that came before it was loaded. */
  private readonly early = new Map<string, Pod>();
  private stopped = false;

  /** @param deps undefined: gate PodCertificateRequest is off */
  constructor(
    private readonly deps: PodCertificatesDeps | undefined,
    private readonly log: Logger,
  ) {}

  wanted(pod: Pod): void {
    if (this.deps === undefined || this.stopped) return;
    if (this.loaded !== undefined) {
      this.loaded.wanted(pod);
      return;
    }
    this.early.set(pod.metadata.uid, pod);
    this.load().catch((error: unknown) => {
      this.log.error({ err: error }, `cannot load the pod certificate manager: ${errorText(error)}`);
    });
  }

  podRemoved(uid: string): void {
    this.early.delete(uid);
    this.loaded?.podRemoved(uid);
  }

  async get(source: PodCertificateSource, signal: AbortSignal): Promise<PodCredential> {
    if (this.deps !== undefined) return (await this.load()).get(source, signal);
    const { PodCertificateError } = await import("./errors.js");
    throw new PodCertificateError(
      "podCertificate projections are off on this node: set its feature gate PodCertificateRequest",
    );
  }

  stop(): void {
    this.stopped = true;
    this.early.clear();
    this.loaded?.stop();
  }

  private load(): Promise<NodePodCertificates> {
    this.loading ??= this.open().catch((error: unknown) => {
      // The next caller tries again.
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async open(): Promise<NodePodCertificates> {
    const { NodePodCertificates } = await import("./pod-certificates.js");
    if (this.deps === undefined) throw new Error("gate PodCertificateRequest is off");
    const loaded = new NodePodCertificates(this.deps);
    if (!this.stopped) for (const pod of this.early.values()) loaded.wanted(pod);
    this.early.clear();
    this.loaded = loaded;
    return loaded;
  }
}
