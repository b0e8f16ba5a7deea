// Rejects pods that would add to the pressure of a node under pressure (reason Evicted).

import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import { qosClass } from "../../../../shared/kubernetes/api/qos.js";
import { isCriticalPod } from "../../../resources/oom-score.js";
import type { AdmissionHandler } from "../handler.js";
import { tolerates } from "./taints.js";

const MEMORY_TAINT = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };

export const pressureHandler: AdmissionHandler = ({ pod, node: { pressures } }) => {
  if (pressures.length === 0 || isCriticalPod(pod)) return undefined;
  const onlyMemory = pressures.every((condition) => condition === "MemoryPressure");
  if (onlyMemory && !harmedByMemoryPressure(pod)) return undefined;
  return { reason: "Evicted", message: `The node had condition: [${pressures.join(", ")}]. ` };
};

/** BestEffort pods are not admitted under memory pressure, unless they tolerate its taint. */
function harmedByMemoryPressure(pod: Pod): boolean {
  return qosClass(pod) === "BestEffort" && !tolerates(pod, MEMORY_TAINT);
}
