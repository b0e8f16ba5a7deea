// The references that a static pod must not have, because only an API server could resolve them (gate
// PreventStaticPodAPIReferences). With the gate off, cluster trust bundles and resource claims stay refused.

import { isRecord } from "../../../../shared/base/text/is-record.js";
import type { FieldPath } from "../../../../shared/kubernetes/api/manifest/field-path.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../../shared/kubernetes/api/volume.js";
import type { Report } from "../report.js";
import { containersOf, items } from "./visit.js";

/** Volume source → the API resource behind it. */
const VOLUMES: Readonly<Record<string, string>> = {
  secret: "secrets",
  configMap: "configmaps",
  persistentVolumeClaim: "persistentvolumeclaims",
  ephemeral: "persistentvolumeclaims",
  csi: "csidrivers",
  glusterfs: "endpoints",
  azureFile: "secrets",
};
const PROJECTED: Readonly<Record<string, string>> = {
  secret: "secrets",
  configMap: "configmaps",
  serviceAccountToken: "serviceaccounts",
  podCertificate: "podcertificates",
};

export function checkAPIReferences(pod: Pod, preventAll: boolean, report: Report): void {
  const refuse = (path: FieldPath, resource: string): void => {
    report.forbidden(path, `static pods may not reference ${resource}`);
  };
  if ((pod.spec.resourceClaims ?? []).length > 0) refuse(["spec", "resourceClaims"], "resourceclaims");
  for (const { container, path } of containersOf(pod)) {
    if ((container.resources?.claims ?? []).length > 0) refuse([...path, "resources", "claims"], "resourceclaims");
  }
  for (const [volume, path] of items(pod.spec.volumes, ["spec", "volumes"])) {
    for (const [source, at] of projectedSources(volume, path)) {
      if (source["clusterTrustBundle"] !== undefined) refuse([...at, "clusterTrustBundle"], "clustertrustbundles");
    }
  }
  if (!preventAll) {
    checkTokens(pod, report);
    return;
  }

  const spec: Record<string, unknown> = { ...pod.spec };
  for (const name of ["serviceAccountName", "serviceAccount"]) {
    if ((spec[name] ?? "") !== "") refuse(["spec", name], "serviceaccounts");
  }
  for (const [secret, path] of items(pod.spec.imagePullSecrets, ["spec", "imagePullSecrets"])) {
    if ((secret.name ?? "") !== "") refuse([...path, "name"], "secrets");
  }
  for (const { container, path } of containersOf(pod)) {
    for (const [source, at] of items(container.envFrom, [...path, "envFrom"])) {
      if (source.secretRef !== undefined) refuse([...at, "secretRef"], "secrets");
      if (source.configMapRef !== undefined) refuse([...at, "configMapRef"], "configmaps");
    }
    for (const [{ valueFrom }, at] of items(container.env, [...path, "env"])) {
      if (valueFrom?.secretKeyRef !== undefined) refuse([...at, "valueFrom", "secretKeyRef"], "secrets");
      if (valueFrom?.configMapKeyRef !== undefined) refuse([...at, "valueFrom", "configMapKeyRef"], "configmaps");
    }
  }
  for (const [volume, path] of items(pod.spec.volumes, ["spec", "volumes"])) checkVolume(volume, path, report, refuse);
}

/** A token of a service account needs one. */
function checkTokens({ spec }: Pod, report: Report): void {
  if ((spec.serviceAccountName ?? spec.serviceAccount ?? "") !== "") return;
  for (const [volume, path] of items(spec.volumes, ["spec", "volumes"])) {
    for (const [source, at] of projectedSources(volume, path)) {
      if (source["serviceAccountToken"] === undefined) continue;
      report.forbidden([...at, "serviceAccountToken"], "serviceAccountName must be set beside it");
    }
  }
}

function checkVolume(
  volume: Volume,
  path: FieldPath,
  report: Report,
  refuse: (path: FieldPath, resource: string) => void,
): void {
  for (const [name, source] of Object.entries(volume)) {
    const resource = VOLUMES[name];
    if (resource !== undefined) {
      refuse([...path, name], resource);
      continue;
    }
    // cephfs, cinder, flexVolume, iscsi, rbd, scaleIO, storageos: their credentials are a secret.
    if (!isRecord(source)) continue;
    const secret = source["secretRef"];
    if (isRecord(secret) && (secret["name"] ?? "") !== "") refuse([...path, name, "secretRef"], "secrets");
  }
  for (const [source, at] of projectedSources(volume, path)) {
    // A source that upstream's check does not know; here one that is empty.
    if (Object.keys(source).length === 0) report.required(at, "a source");
    for (const [name, resource] of Object.entries(PROJECTED)) {
      if (source[name] !== undefined) refuse([...at, name], resource);
    }
  }
}

function* projectedSources(volume: Volume, path: FieldPath): Generator<[Record<string, unknown>, FieldPath]> {
  const projected = volume["projected"];
  const sources: unknown = isRecord(projected) ? projected["sources"] : undefined;
  if (!Array.isArray(sources)) return;
  for (const [source, at] of items<unknown>(sources, [...path, "projected", "sources"])) {
    if (isRecord(source)) yield [source, at];
  }
}
