// Does a pod tolerate a taint? Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
import type { Pod, Toleration } from "../../shared/api/pod.js";

export interface NodeTaint {
  key: string;
  value?: string;
  effect: string;
}

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
    // Behind gate TaintTolerationComparisonOperators: the API server decides who may write them.
    case "Lt":
    case "Gt": {
      const [own, given] = [Number(taint.value), Number(value)];
      if (!Number.isInteger(own) || !Number.isInteger(given)) return false;
      return operator === "Lt" ? own < given : own > given;
    }
  }
}
