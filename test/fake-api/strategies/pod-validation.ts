// The rules of pods that a node agent or its tests can run into. The real server has many more for what users write.

import { dnsLabel } from "../../../src/shared/kubernetes/api/manifest/formats.js";
import { FieldError } from "../../../src/workers/apiserver/objects/errors.js";
import { LABEL_RULE } from "../../../src/workers/apiserver/objects/names.js";
import {
  fieldsAt,
  listAt,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { CONTAINER_LISTS } from "./containers.js";
import { isQuantity, nanosOf } from "./quantities.js";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
export function podErrors(pod: ApiObject): FieldError[] {
  const spec = pod.spec ?? {};
  const errors: FieldError[] = [];
  if (listAt(spec, "containers").length === 0) errors.push(FieldError.required("spec.containers"));
  const volumes = new Set(listAt(spec, "volumes").map((volume) => textAt(volume, "name")));
  const names = new Set<string>();
  for (const list of CONTAINER_LISTS) {
    for (const [index, container] of listAt(spec, list).entries()) {
      errors.push(...containerErrors(container, `spec.${list}[${index}]`, names, volumes));
    }
  }
  const policy = textAt(spec, "restartPolicy") ?? "";
  if (!RESTART_POLICIES.includes(policy)) {
    errors.push(FieldError.unsupported("spec.restartPolicy", policy, RESTART_POLICIES));
  }
  return errors;
}

function containerErrors(
  container: Fields,
  path: string,
  names: Set<string>,
  volumes: ReadonlySet<string | undefined>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = textAt(container, "name");
  if (name === undefined) errors.push(FieldError.required(`${path}.name`));
  else if (dnsLabel(name) !== undefined) errors.push(FieldError.invalid(`${path}.name`, name, LABEL_RULE));
  else if (names.has(name)) errors.push(FieldError.duplicate(`${path}.name`, name));
  if (name !== undefined) names.add(name);
  if (textAt(container, "image") === undefined) errors.push(FieldError.required(`${path}.image`));
  for (const [at, mount] of listAt(container, "volumeMounts").entries()) {
    const volume = textAt(mount, "name");
    if (!volumes.has(volume)) errors.push(FieldError.notFound(`${path}.volumeMounts[${at}].name`, volume));
    if (textAt(mount, "mountPath") === undefined)
      errors.push(FieldError.required(`${path}.volumeMounts[${at}].mountPath`));
  }
  errors.push(...resourceErrors(fieldsAt(container, "resources"), `${path}.resources`));
  return errors;
}

function resourceErrors(resources: Fields, path: string): FieldError[] {
  const limits = fieldsAt(resources, "limits");
  return Object.entries(fieldsAt(resources, "requests")).flatMap(([name, request]) => {
    const limit = limits[name];
    if (!isQuantity(request) || !isQuantity(limit) || nanosOf(request) <= nanosOf(limit)) return [];
    return [FieldError.invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)];
  });
}
