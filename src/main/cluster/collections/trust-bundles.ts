// ClusterTrustBundles, where the API server has them (gate ClusterTrustBundleProjection): certificates by the bundle's
// name, or of all bundles of a signer.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { quote } from "../../../shared/base/text/quote.js";
import { isNotFound } from "../../../shared/kubernetes/api/client/errors.js";
import { CLUSTER_TRUST_BUNDLES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { LabelSelector } from "../../../shared/kubernetes/api/gen/meta.js";
import { selects } from "../../../shared/kubernetes/api/label-selector.js";
import type { ClusterTrustBundle } from "../../../shared/kubernetes/api/objects.js";
import type { TrustAnchors } from "../../model/cluster-access.js";
import { distinctCertificates } from "./certificates.js";
import { Collection, type CollectionOptions } from "./collection.js";

export interface TrustBundlesDeps extends Pick<CollectionOptions<ClusterTrustBundle>, "follow" | "clock" | "onChange"> {
  client: Pick<ApiClient, "list">;
  /** Gate ClusterTrustBundleProjection. */
  enabled: boolean;
}

/** Newest first. */
const VERSIONS = ["v1", "v1beta1", "v1alpha1"];
const LONGEST_SELECTOR = 100 * 1024;

export class TrustBundles implements TrustAnchors {
  private bundles: Promise<Collection<ClusterTrustBundle>> | undefined;
  private stopped = false;

  constructor(private readonly deps: TrustBundlesDeps) {}

  async byName(name: string, optional: boolean, signal: AbortSignal): Promise<string> {
    const bundles = await this.all(signal);
    const bundle = bundles.find(({ metadata }) => metadata.name === name);
    if (bundle !== undefined) return distinctCertificates([bundle.spec.trustBundle]);
    if (optional) return "";
    throw new OperatorError(
      `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${quote(name)} not found`,
    );
  }

  async bySigner(
    signer: string,
    selector: LabelSelector | undefined,
    optional: boolean,
    signal: AbortSignal,
  ): Promise<string> {
    const length = JSON.stringify(selector ?? {}).length;
    if (length > LONGEST_SELECTOR) {
      throw new OperatorError(`label selector length (${length}) is larger than ${LONGEST_SELECTOR}`);
    }
    const bundles = (await this.all(signal)).filter(
      ({ metadata, spec }) => spec.signerName === signer && selects(selector, metadata.labels),
    );
    if (bundles.length > 0) return distinctCertificates(bundles.map(({ spec }) => spec.trustBundle));
    if (optional) return "";
    throw new OperatorError("combination of signerName and labelSelector matched zero ClusterTrustBundles");
  }

  stop(): void {
    this.stopped = true;
    this.bundles?.then(
      (bundles) => bundles.stop(),
      () => undefined,
    );
  }

  private async all(signal: AbortSignal): Promise<readonly ClusterTrustBundle[]> {
    this.bundles ??= this.open().catch((error: unknown) => {
      // The next caller sends a request again.
      this.bundles = undefined;
      throw error;
    });
    const bundles = await (await this.bundles).all(signal);
    if (bundles === undefined) throw new OperatorError("ClusterTrustBundle informer has not yet synced");
    return bundles;
  }

  private async open(): Promise<Collection<ClusterTrustBundle>> {
    const { client, enabled, follow, clock, onChange } = this.deps;
    for (const version of enabled ? VERSIONS : []) {
      const kind = { ...CLUSTER_TRUST_BUNDLES, version };
      try {
        await client.list(kind, { limit: 1 });
      } catch (error) {
        if (isNotFound(error)) continue;
        throw error;
      }
      if (this.stopped) break;
      return new Collection({ kind, follow, clock, onChange });
    }
    throw new OperatorError("ClusterTrustBundle projection is not supported in static kubelet mode");
  }
}
