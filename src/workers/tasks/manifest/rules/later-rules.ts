// Warnings of the fields that a later Kubernetes acts on, and this kubelet does not.

import { laterFields } from "../../../../shared/kubernetes/api/later-fields.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Report } from "../report.js";

export function warnOfLaterFields(pod: Pod, report: Report): void {
  for (const { path, gate } of laterFields(pod)) {
    report.warn(path, `kept, but without effect: a field of Kubernetes 1.37 (feature gate ${gate})`, true);
  }
}
