// Features of newer pods that this node says it can run (status.declaredFeatures, KEP-5328): the scheduler places pods that
// need one only where it is declared, and the API server passes kubectl's WebSockets on to nodes that declare
// ExtendWebSocketsToKubelet; for others it turns them into SPDY. Named after their gates, but for the CPU manager's.
import type { EffectiveConfig } from "../command/config/effective.js";

const BY_GATE = [
  "ExtendWebSocketsToKubelet",
  "InPlacePodLevelResourcesVerticalScaling",
  "InPlacePodVerticalScalingInitContainers",
  "RestartAllContainersOnContainerExits",
] as const;

/** Sorted; none without the gate NodeDeclaredFeatures. */
export function declaredFeatures(config: Pick<EffectiveConfig, "gate" | "get">): string[] {
  if (!config.gate("NodeDeclaredFeatures")) return [];
  const cpuPolicy = config.get("cpuManagerPolicy");
  const resizesGuaranteed =
    config.gate("InPlacePodVerticalScalingExclusiveCPUs") && (cpuPolicy === "none" || cpuPolicy === "static");
  const features = BY_GATE.filter((gate) => config.gate(gate));
  return [...features, ...(resizesGuaranteed ? ["GuaranteedQoSPodCPUResize"] : [])].sort();
}
