// Defaults of a pod, in the order a decoder of the real server fills them in.

import {
  fieldsAt,
  isFields,
  listAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields, setDefault } from "../fields.js";
import { CONTAINER_LISTS, defaultContainer, requestsFromLimits } from "./containers.js";
import { canonicalAmounts, canonicalResources } from "./quantities.js";
import { podShape } from "./shape.js";
import { defaultVolume } from "./volumes.js";

export function defaultPod(pod: ApiObject): void {
  const spec = ensureFields(pod, "spec");
  for (const list of CONTAINER_LISTS) {
    for (const container of listAt(spec, list)) {
      defaultContainer(container);
      canonicalResources(fieldsAt(container, "resources"));
      if (spec["hostNetwork"] === true) hostPorts(container);
    }
  }
  for (const volume of listAt(spec, "volumes")) {
    defaultVolume(volume);
    const emptyDir = fieldsAt(volume, "emptyDir");
    if (emptyDir["sizeLimit"] !== undefined) canonicalAmounts(emptyDir);
  }
  setDefault(spec, "restartPolicy", "Always");
  setDefault(spec, "terminationGracePeriodSeconds", 30);
  setDefault(spec, "dnsPolicy", "ClusterFirst");
  setDefault(spec, "schedulerName", "default-scheduler");
  if (!isFields(spec["securityContext"])) spec["securityContext"] = {};
  if (spec["enableServiceLinks"] === undefined) spec["enableServiceLinks"] = true;
  sameServiceAccount(spec);
  if (isFields(spec["resources"])) {
    requestsFromLimits(spec["resources"]);
    canonicalResources(spec["resources"]);
  }
  canonicalAmounts(spec["overhead"]);
  podShape(pod);
}

/** The old name of the field is kept in step with the new one. */
export function sameServiceAccount(spec: Fields): void {
  const name = spec["serviceAccountName"] ?? spec["serviceAccount"];
  if (name === undefined || name === "") return;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
}

/** On the host's network a container port is a host port. */
function hostPorts(container: Fields): void {
  for (const port of listAt(container, "ports")) {
    if (port["hostPort"] === undefined || port["hostPort"] === 0) port["hostPort"] = port["containerPort"];
  }
}
