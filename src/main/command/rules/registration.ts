// Taints and labels with which the node registers.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { isQualifiedName, labelValue, qualifiedName } from "../../../shared/kubernetes/api/manifest/formats.js";
import type { Violation } from "../violation.js";
import { notOneOf } from "./check.js";
import type { ConfigView } from "./rule.js";

const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function* taints(config: ConfigView): Iterable<Violation> {
  for (const [index, taint] of (config.get("registerWithTaints") ?? []).entries()) {
    const path = `registerWithTaints[${index}]`;
    if (!isQualifiedName(taint.key)) {
      yield { path: `${path}.key`, message: `${quoteStart(taint.key)} is not ${qualifiedName(taint.key) ?? ""}` };
    }
    const problem = labelValue(taint.value);
    if (problem !== undefined) yield { path: `${path}.value`, message: `${quoteStart(taint.value)} is not ${problem}` };
    if (taint.effect !== "" && !TAINT_EFFECTS.includes(taint.effect)) {
      yield { path: `${path}.effect`, message: notOneOf(taint.effect, TAINT_EFFECTS) };
    }
    if (taint.timeAdded !== undefined) {
      yield { path: `${path}.timeAdded`, message: "is set by the control plane; remove it" };
    }
  }
}
