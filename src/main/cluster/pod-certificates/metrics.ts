// Certificates of pods as upstream counts them. Main thread only.

import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

export type PodCertificateState = "not_yet_issued" | "fresh" | "overdue_for_refresh" | "expired" | "denied" | "failed";

/** @param read one entry per source of a projected volume, called at each scrape */
export function watchPodCertificates(
  registry: ThreadRegistry,
  read: () => Iterable<{ signerName: string; state: PodCertificateState }>,
): void {
  const states = registry.gauge(
    "kubelet_podcertificate_states",
    "Number of podCertificate sources of projected volumes, by signer name and state",
    ["signer_name", "state"],
  );
  registry.onSnapshot(() => {
    states.reset();
    for (const { signerName, state } of read()) states.inc({ signer_name: signerName, state });
  });
}
