// Defaults and checks of other resources when an object is written: one strategy per resource.

import { FieldError } from "../../../src/workers/apiserver/objects/errors.js";
import {
  fieldsAt,
  isFields,
  isSame,
  listAt,
  nowText,
  textAt,
  type ApiObject,
} from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields, setDefault } from "../fields.js";
import { canonicalAmounts, canonicalResources } from "./quantities.js";
import { coreEventShape, nodeShape } from "./shape.js";
import type { Strategy } from "./strategy.js";

export const nodeStrategy: Strategy = {
  defaults(node) {
    const status = ensureFields(node, "status");
    canonicalAmounts(status["capacity"]);
    canonicalAmounts(status["allocatable"]);
    if (isFields(status["capacity"])) setDefault(status, "allocatable", { ...status["capacity"] });
    const spec = ensureFields(node, "spec");
    if (textAt(spec, "podCIDR") !== undefined) setDefault(spec, "podCIDRs", [spec["podCIDR"]]);
    nodeShape(node);
  },
  validateUpdate: (next, old) => [...cidrErrors(next, old), ...providerErrors(next, old)],
};

function cidrErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const before = textAt(old.spec, "podCIDR");
  if (before === undefined || before === textAt(next.spec, "podCIDR")) return [];
  return [FieldError.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')];
}

function providerErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const before = textAt(old.spec, "providerID");
  if (before === undefined || before === textAt(next.spec, "providerID")) return [];
  return [FieldError.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')];
}

export const leaseStrategy: Strategy = {
  validate(lease) {
    const seconds = lease.spec?.["leaseDurationSeconds"];
    if (typeof seconds !== "number" || seconds > 0) return [];
    return [FieldError.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")];
  },
};

/** An event belongs into its object's namespace; the new kind may change its series only. */
export const eventStrategy: Strategy = {
  defaults: coreEventShape,
  validate(event) {
    const { namespace } = event.metadata;
    const involved = textAt(fieldsAt(event, "involvedObject"), "namespace");
    const expected = involved ?? "default";
    if (event.apiVersion !== "v1" || !isFields(event["involvedObject"]) || expected === namespace) return [];
    const detail = "does not match event.namespace";
    return [FieldError.invalid("involvedObject.namespace", involved ?? "", detail)];
  },
};

/** An event of events.k8s.io, in its stored form. */
export const newEventStrategy: Strategy = {
  defaults: coreEventShape,
  validate(event) {
    const errors: FieldError[] = [];
    if (event["eventTime"] === null) errors.push(FieldError.required("eventTime"));
    const type = textAt(event, "type") ?? "";
    if (!["Normal", "Warning"].includes(type)) {
      errors.push(FieldError.invalid("type", type, `has invalid value: ${type}`));
    }
    for (const [field, message] of Object.entries({
      reportingComponent: "reportingController",
      reportingInstance: "reportingInstance",
    })) {
      if (errors.length === 0 && textAt(event, field) === undefined) errors.push(FieldError.required(message));
    }
    return errors;
  },
};

function immutableData(field: string, kinds: readonly string[]): NonNullable<Strategy["validateUpdate"]> {
  return (next, old) => {
    if (old["immutable"] !== true) return [];
    const text = "field is immutable when `immutable` is set";
    if (next["immutable"] !== true) return [FieldError.forbidden("immutable", text)];
    return kinds
      .filter((kind) => !isSame(next[kind], old[kind]))
      .map((kind) => FieldError.forbidden(kind || field, text));
  };
}

const LARGEST = 1024 * 1024;
const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function dataErrors(object: ApiObject, sizePath: string): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const kind of ["data", "binaryData"]) {
    for (const [key, value] of Object.entries(fieldsAt(object, kind))) {
      if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) errors.push(FieldError.invalid(`${kind}[${key}]`, key, KEY_RULE));
      size += String(value).length;
    }
  }
  if (size > LARGEST) errors.push(FieldError.tooLong(sizePath, LARGEST));
  return errors;
}

export const configMapStrategy: Strategy = {
  validate: (object) => dataErrors(object, "[]"),
  validateUpdate: immutableData("data", ["data", "binaryData"]),
};

export const secretStrategy: Strategy = {
  defaults(secret) {
    setDefault(secret, "type", "Opaque");
    const written = secret["stringData"];
    if (!isFields(written)) return;
    const data = ensureFields(secret, "data");
    for (const [key, value] of Object.entries(written)) data[key] = Buffer.from(String(value)).toString("base64");
    delete secret["stringData"];
  },
  validate: (object) => dataErrors(object, "data"),
  validateUpdate(next, old, subresource, world) {
    if (next["type"] !== old["type"]) return [FieldError.invalid("type", next["type"], "field is immutable")];
    return immutableData("data", ["data"])(next, old, subresource, world);
  },
};

export const serviceStrategy: Strategy = {
  defaults(service) {
    const spec = ensureFields(service, "spec");
    setDefault(spec, "type", "ClusterIP");
    setDefault(spec, "sessionAffinity", "None");
    for (const port of Array.isArray(spec["ports"]) ? spec["ports"].filter(isFields) : []) {
      setDefault(port, "protocol", "TCP");
      setDefault(port, "targetPort", port["port"]);
    }
  },
  prepareCreate(service, world) {
    const spec = ensureFields(service, "spec");
    setDefault(spec, "internalTrafficPolicy", "Cluster");
    setDefault(spec, "ipFamilies", ["IPv4"]);
    setDefault(spec, "ipFamilyPolicy", "SingleStack");
    // Addresses of 10.96.0.0/16, none twice: they follow the revision.
    const next = world.store.revision + 10;
    if (spec["type"] !== "ExternalName") setDefault(spec, "clusterIP", `10.96.${(next >> 8) & 255}.${next & 255}`);
    setDefault(spec, "clusterIPs", [spec["clusterIP"]]);
    service.status = { loadBalancer: {} };
  },
};

export const claimStrategy: Strategy = {
  defaults(claim) {
    const spec = ensureFields(claim, "spec");
    setDefault(spec, "volumeMode", "Filesystem");
    canonicalResources(fieldsAt(spec, "resources"));
    canonicalAmounts(fieldsAt(claim, "status")["capacity"]);
  },
  prepareCreate(claim) {
    claim.metadata.finalizers ??= ["kubernetes.io/pvc-protection"];
    claim.status = { phase: "Pending" };
  },
};

const MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options";
/** Sources of persistent volumes with which the server accepts {@link MOUNT_OPTIONS}. Others have the field only. */
const ANNOTATED_SOURCES =
  "gcePersistentDisk awsElasticBlockStore glusterfs nfs rbd quobyte iscsi cinder cephfs azureFile vsphereVolume azureDisk photonPersistentDisk".split(
    " ",
  );

export const volumeStrategy: Strategy = {
  validate({ metadata, spec }) {
    if (metadata.annotations?.[MOUNT_OPTIONS] === undefined) return [];
    if (ANNOTATED_SOURCES.some((source) => isFields(spec?.[source]))) return [];
    const detail = "may not specify mount options for this volume type";
    return [FieldError.forbidden(`metadata.annotations.${MOUNT_OPTIONS}`, detail)];
  },
  defaults(volume) {
    const spec = ensureFields(volume, "spec");
    setDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
    canonicalAmounts(spec["capacity"]);
    setDefault(spec, "volumeMode", "Filesystem");
    const hostPath = spec["hostPath"];
    if (isFields(hostPath)) hostPath["type"] ??= "";
  },
  prepareCreate(volume, world) {
    volume.metadata.finalizers ??= ["kubernetes.io/pv-protection"];
    volume.status = { phase: "Pending", lastPhaseTransitionTime: nowText(world.clock) };
  },
};

export const csiDriverStrategy: Strategy = {
  defaults(driver) {
    const spec = ensureFields(driver, "spec");
    for (const [field, value] of Object.entries({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
      seLinuxMount: false,
    })) {
      setDefault(spec, field, value);
    }
  },
};

export const csiNodeStrategy: Strategy = {
  defaults(node) {
    const spec = ensureFields(node, "spec");
    if (listAt(spec, "drivers").length === 0) spec["drivers"] = null;
  },
};

export const runtimeClassStrategy: Strategy = {
  defaults: (runtimeClass) => canonicalAmounts(fieldsAt(runtimeClass, "overhead")["podFixed"]),
};

export const budgetStrategy: Strategy = {
  prepareCreate(budget) {
    budget.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
};

export const storageClassStrategy: Strategy = {
  defaults(storageClass) {
    setDefault(storageClass, "reclaimPolicy", "Delete");
    setDefault(storageClass, "volumeBindingMode", "Immediate");
  },
};

export const priorityClassStrategy: Strategy = {
  defaults(priorityClass) {
    setDefault(priorityClass, "preemptionPolicy", "PreemptLowerPriority");
  },
};
