// Pods: the rules and defaults of manifests, the only node, and which parts each subresource may change.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { fieldName } from "../../../shared/kubernetes/api/manifest/field-path.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { checkPodManifest } from "../../tasks/manifest/check-pod.js";
import { withPodDefaults } from "../../tasks/manifest/defaults.js";
import { Report } from "../../tasks/manifest/report.js";
import { FieldError, invalid } from "../objects/errors.js";
import { setDigits } from "../objects/json.js";
import { copyOf, isFields, listAt, nowText, textAt, type ApiObject, type Fields } from "../objects/object.js";
import { ephemeralErrors, podStatusErrors, podUpdateErrors, qosOf, resizeErrors } from "../objects/pod-updates.js";
import { releaseClaims } from "./claims.js";
import type { Strategy } from "./strategy.js";

const POD = { group: "", kind: "Pod" };
/** Seconds for which a pod stays on a node that is not ready, as in every cluster. */
const TOLERATED = ["not-ready", "unreachable"].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

export const podStrategy: Strategy = {
  prepareCreate(pod, context) {
    pod.spec = checkedSpec(pod);
    const { spec } = pod;
    const node = textAt(spec, "nodeName");
    const { nodeName } = context.world;
    if (node !== undefined && node !== nodeName) {
      throw invalid(POD, pod.metadata.name, [FieldError.unsupported("spec.nodeName", node, [nodeName])]);
    }
    spec["nodeName"] = nodeName;
    if (spec["tolerations"] === undefined) spec["tolerations"] = copyOf(TOLERATED);
    const scheduled = {
      type: "PodScheduled",
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: nowText(context.world.clock),
    };
    pod.status = { phase: "Pending", qosClass: qosOf(spec), conditions: [scheduled] };
  },

  prepareUpdate(next, old, subresource) {
    if (subresource === "status") {
      next.status = { ...next.status, qosClass: next.status?.["qosClass"] ?? old.status?.["qosClass"] };
    } else next.spec = allowedSpec(next, old, subresource);
  },

  validateUpdate(next, old, subresource) {
    if (subresource === "status") return podStatusErrors(next, old);
    if (subresource === "ephemeralcontainers") return ephemeralErrors(next, old);
    if (subresource === "resize") return resizeErrors(next, old);
    return podUpdateErrors(next, old);
  },

  deleted: releaseClaims,
};

/** The spec with defaults. @throws ApiError with everything that the rules of manifests find */
function checkedSpec(pod: ApiObject): Fields {
  const report = new Report();
  const checked = checkPodManifest(pod, { preventAPIReferences: false }, report);
  if (checked === undefined || report.violations.length > 0) {
    const errors = report.violations.map(({ path, reason, got, allowed }) => {
      const field = fieldName(path);
      if (reason === "required value") return FieldError.required(field, allowed);
      if (reason === "duplicate value") return FieldError.duplicate(field, plain(got));
      if (reason === "forbidden") return FieldError.forbidden(field, allowed ?? "");
      return FieldError.invalid(field, plain(got), allowed ?? reason);
    });
    throw invalid(POD, pod.metadata.name, errors);
  }
  const whole = copyOf(withPodDefaults(checked));
  setDigits(whole, report.wideIntegers);
  return whole.spec as Pod["spec"] & Fields;
}

/** The report has values as JSON. */
function plain(got: string | undefined): unknown {
  try {
    return got === undefined ? null : (JSON.parse(got) as unknown);
  } catch {
    return got;
  }
}

/** The resize subresource changes resources only, the ephemeral one adds containers only. */
function allowedSpec(next: ApiObject, old: ApiObject, subresource: string): Fields {
  const wanted = next.spec ?? {};
  // Rules and defaults hold for added containers, and not for those that were there.
  if (subresource === "") return wanted;
  const spec = copyOf(old.spec ?? {});
  if (subresource === "ephemeralcontainers") {
    spec["ephemeralContainers"] = listAt(wanted, "ephemeralContainers").map(withContainerDefaults);
  }
  if (subresource !== "resize") return spec;
  if (isFields(wanted["resources"])) spec["resources"] = wanted["resources"];
  for (const list of ["initContainers", "containers"]) {
    for (const container of listAt(spec, list)) {
      const change = listAt(wanted, list).find(({ name }) => name === container["name"]);
      if (change === undefined) continue;
      container["resources"] = change["resources"] ?? {};
      if (change["resizePolicy"] !== undefined) container["resizePolicy"] = change["resizePolicy"];
    }
  }
  return spec;
}

/** An ephemeral container has the defaults of every container. */
function withContainerDefaults(container: Fields): Fields {
  const { targetContainerName, ...common } = container;
  const pod = { metadata: { name: "pod" }, spec: { containers: [common] } } as unknown as Pod;
  const [filled] = withPodDefaults(pod).spec.containers;
  return omitUndefined<Fields>({ ...filled, targetContainerName });
}
