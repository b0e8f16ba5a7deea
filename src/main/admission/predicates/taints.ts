// NoExecute taints of the node. Static pods belong to the node: they run whatever it is tainted with.
import { isStaticPod } from "../../../shared/api/pod.js";
import type { AdmissionHandler } from "../handler.js";
import { tolerates } from "../tolerations.js";

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
