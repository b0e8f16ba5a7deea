// Pods: defaults, what a new one's status says, and which parts each subresource may change.

import type { FieldError } from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import {
  ephemeralErrors,
  podStatusErrors,
  podUpdateErrors,
  qosOf,
  resizeErrors,
} from "../../../src/workers/apiserver/objects/pod-updates.js";
import { ensureFields } from "../fields.js";
import { CONTAINER_LISTS } from "./containers.js";
import { defaultPod } from "./pod-defaults.js";
import { podErrors } from "./pod-validation.js";
import { podShape } from "./shape.js";
import type { Strategy, Subresource } from "./strategy.js";

export const podStrategy: Strategy = {
  defaults: defaultPod,

  prepareCreate(pod) {
    pod.metadata.generation = 1;
    pod.status = { phase: "Pending", qosClass: qosOf(pod.spec ?? {}) };
  },

  validate: podErrors,

  prepareUpdate(next, old, subresource) {
    if (subresource === "status") {
      next.metadata.ownerReferences = copyOf(old.metadata.ownerReferences) ?? [];
      if (next.metadata.ownerReferences.length === 0) delete next.metadata.ownerReferences;
      const status = ensureFields(next, "status");
      status["qosClass"] ??= fieldsAt(old, "status")["qosClass"];
      samePodIps(status);
      podShape(next);
    } else next.spec = allowedSpec(next, old, subresource);
  },

  validateUpdate(next, old, subresource): FieldError[] {
    switch (subresource) {
      case "status":
        return podStatusErrors(next, old);
      case "ephemeralcontainers":
        return ephemeralErrors(next, old);
      case "resize":
        return resizeErrors(next, old);
      default:
        return podUpdateErrors(next, old);
    }
  },
};

/** The resize subresource changes resources only, the ephemeral one adds containers only. */
function allowedSpec(next: ApiObject, old: ApiObject, subresource: Subresource): Fields {
  const wanted = next.spec ?? {};
  if (subresource === "") return wanted;
  const spec = copyOf(old.spec ?? {});
  if (subresource === "ephemeralcontainers") spec["ephemeralContainers"] = wanted["ephemeralContainers"];
  if (subresource === "resize") {
    if (isFields(wanted["resources"])) spec["resources"] = wanted["resources"];
    for (const list of CONTAINER_LISTS) {
      for (const container of listAt(spec, list)) {
        const change = listAt(wanted, list).find(({ name }) => name === container["name"]);
        if (change === undefined) continue;
        container["resources"] = change["resources"] ?? {};
        if (change["resizePolicy"] !== undefined) container["resizePolicy"] = change["resizePolicy"];
      }
    }
  }
  return spec;
}

/** podIP is the first of podIPs; where they differ podIP is right. */
function samePodIps(status: Fields): void {
  const [first, single] = [textAt(listAt(status, "podIPs")[0], "ip"), textAt(status, "podIP")];
  if (single !== undefined && single !== first) status["podIPs"] = [{ ip: single }];
  else if (first !== undefined) status["podIP"] = first;
}
