// kubernetes_feature_enabled: every feature gate with its stage and state, created at the first scrape.

import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import { GATES, type Gate, type GateName } from "../command/gates/table.js";

export function watchGates(registry: ThreadRegistry, gate: (name: GateName) => boolean): void {
  let isSet = false;
  registry.onSnapshot(() => {
    if (isSet) return;
    isSet = true;
    const enabled = registry.gauge("kubernetes_feature_enabled", "Whether the feature gate is enabled; 1 if enabled", [
      "name",
      "stage",
    ]);
    for (const [name, { stage }] of Object.entries(GATES) as [GateName, Gate][]) {
      // Upstream has no name for the last stage.
      enabled.set({ name, stage: stage === "GA" ? "" : stage }, Number(gate(name)));
    }
  });
}
