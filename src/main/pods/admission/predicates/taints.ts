// Rejects pods that do not tolerate a NoExecute taint of the node.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/

import { isStaticPod, type Pod, type Toleration } from "../../../../shared/kubernetes/api/pod.js";
import type { AdmissionHandler } from "../handler.js";

interface NodeTaint {
  key: string;
  value?: string;
  effect: string;
}

/** NoExecute taints of the node. Static pods belong to the node: they run with any taint. */
export const taintsHandler: AdmissionHandler = ({ pod, node }) => {
  if (isStaticPod(pod)) return undefined;
  const untolerated = node.taints.some((taint) => taint.effect === "NoExecute" && !tolerates(pod, taint));
  return untolerated
    ? {
        reason: "TaintToleration",
        message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
      }
    : undefined;
};

export function tolerates(pod: Pod, taint: NodeTaint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => matches(toleration, taint));
}

function matches({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: NodeTaint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "Exists":
      return true;
    case "Equal":
      return key !== "" && value === (taint.value ?? "");
    // With every value of the gate TaintTolerationComparisonOperators: the API server decides who may write them.
    case "Lt":
    case "Gt": {
      const [own, given] = [Number(taint.value), Number(value)];
      if (!Number.isInteger(own) || !Number.isInteger(given)) return false;
      return operator === "Lt" ? own < given : own > given;
    }
  }
}
