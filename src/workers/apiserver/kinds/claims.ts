// Claims: each is bound to a folder of this node as soon as it exists. The folder's name is the claim's, so that a new
// claim of that name finds the data of the old one; nothing deletes data.
// Invariant: a claim that a pod uses stays until that pod is gone, by the finalizer that clusters use for it.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { parseQuantity } from "../../../shared/kubernetes/api/quantity.js";
import { FieldError } from "../objects/errors.js";
import { copyOf, fieldsAt, isFields, listAt, nowText, textAt, type ApiObject, type Fields } from "../objects/object.js";
import { resourceNamed } from "../objects/resources.js";
import { keyOf, type Reader } from "../store/tables.js";
import type { WriteContext } from "../world.js";
import type { Strategy } from "./strategy.js";

const CLASS = "local";
const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const PROTECTION = "kubernetes.io/pvc-protection";
const FINISHED = ["Succeeded", "Failed"];

export const claimStrategy: Strategy = {
  prepareCreate(claim) {
    claim.spec = { accessModes: ["ReadWriteOnce"], storageClassName: CLASS, volumeMode: "Filesystem", ...claim.spec };
    claim.metadata.finalizers = [...new Set([...(claim.metadata.finalizers ?? []), PROTECTION])];
    claim.status = { phase: "Pending" };
    // This node provides volumes of no other class.
    if (claim.spec["storageClassName"] !== CLASS || textAt(claim.spec, "volumeName") !== undefined) return;
    claim.spec["volumeName"] = `pvc-${claim.metadata.uid ?? ""}`;
    claim.status = { phase: "Bound", accessModes: claim.spec["accessModes"], capacity: requested(claim) };
  },
  validate(claim) {
    const modes = Array.isArray(claim.spec?.["accessModes"]) ? (claim.spec["accessModes"] as unknown[]) : [];
    const wrong = modes.filter((mode) => !MODES.some((known) => known === mode));
    const { storage } = requested(claim);
    const isNegative = storage !== undefined && parseQuantity(storage as string).nanos <= 0n;
    return [
      ...wrong.map((mode) => FieldError.unsupported("spec.accessModes", mode, MODES)),
      ...(isNegative ? [FieldError.invalid("spec.resources[storage]", storage, "must be greater than zero")] : []),
    ];
  },
  created(claim, { tx, world }) {
    const { name, namespace = "", uid } = claim.metadata;
    if (claim.status?.["phase"] !== "Bound") return;
    tx.put(resourceNamed("persistentvolumes"), {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: {
        name: textAt(claim.spec, "volumeName") ?? "",
        uid: randomUUID(),
        creationTimestamp: nowText(world.clock),
      },
      spec: {
        capacity: requested(claim),
        accessModes: claim.spec?.["accessModes"],
        storageClassName: CLASS,
        persistentVolumeReclaimPolicy: "Retain",
        volumeMode: "Filesystem",
        claimRef: { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace, name, uid },
        hostPath: { path: join(world.volumesDir, namespace, name), type: "DirectoryOrCreate" },
      },
      status: { phase: "Bound" },
    });
  },
  deleted(claim, { tx }) {
    const volumes = resourceNamed("persistentvolumes");
    const volume = tx.get(volumes, textAt(claim.spec, "volumeName") ?? "");
    if (volume !== undefined) tx.remove(volumes, volume.metadata.name, volume);
  },
};

function requested({ spec }: ApiObject): Fields {
  return fieldsAt(fieldsAt(spec, "resources"), "requests");
}

function claimsOf(pod: ApiObject): string[] {
  return listAt(pod.spec, "volumes").flatMap((volume) => {
    const claim = volume["persistentVolumeClaim"];
    return isFields(claim) && typeof claim["claimName"] === "string" ? [claim["claimName"]] : [];
  });
}

/** A pod that ended by itself does not use its claims any more. */
export function isClaimUsed({ metadata }: ApiObject, reader: Reader): boolean {
  return reader.entries(resourceNamed("pods")).some(([, pod]) => {
    if (pod.metadata.namespace !== metadata.namespace || FINISHED.includes(textAt(pod.status, "phase") ?? ""))
      return false;
    return claimsOf(pod).includes(metadata.name);
  });
}

/** After the end of a pod: claims that were deleted and waited for it go. */
export function releaseClaims(pod: ApiObject, context: WriteContext): void {
  const claims = resourceNamed("persistentvolumeclaims");
  for (const name of claimsOf(pod)) {
    const claim = context.tx.get(claims, keyOf(pod.metadata.namespace, name));
    if (claim?.metadata.deletionTimestamp === undefined || isClaimUsed(claim, context.tx)) continue;
    claimStrategy.deleted?.(
      context.tx.remove(claims, keyOf(pod.metadata.namespace, name), unprotected(claim)),
      context,
    );
  }
}

export function unprotected(claim: ApiObject): ApiObject {
  const next = copyOf(claim);
  next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((one) => one !== PROTECTION);
  return next;
}
