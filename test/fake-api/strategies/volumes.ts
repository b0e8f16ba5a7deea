// Defaults of a pod's volumes: the modes and types that a node relies on being filled in.

import { isFields, listAt, fieldsAt, textAt, type Fields } from "../../../src/workers/apiserver/objects/object.js";
import { setDefault } from "../fields.js";
import { pullPolicyOf } from "./containers.js";

const MODE = 0o644;

export function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).filter((key) => key !== "name").length === 0) volume["emptyDir"] = {};
  for (const kind of ["configMap", "secret", "downwardAPI", "projected"]) {
    const source = volume[kind];
    if (isFields(source)) setDefault(source, "defaultMode", MODE);
  }
  defaultFieldRefs(fieldsAt(volume, "downwardAPI"));
  for (const source of listAt(fieldsAt(volume, "projected"), "sources")) {
    defaultFieldRefs(fieldsAt(source, "downwardAPI"));
    const token = source["serviceAccountToken"];
    if (isFields(token)) setDefault(token, "expirationSeconds", 3600);
  }
  const image = volume["image"];
  if (isFields(image)) setDefault(image, "pullPolicy", pullPolicyOf(textAt(image, "reference") ?? ""));
  if (isFields(volume["hostPath"])) volume["hostPath"]["type"] ??= "";
  if (isFields(volume["iscsi"])) setDefault(volume["iscsi"], "iscsiInterface", "default");
  const claim = fieldsAt(fieldsAt(volume, "ephemeral"), "volumeClaimTemplate")["spec"];
  if (isFields(claim)) setDefault(claim, "volumeMode", "Filesystem");
}

function defaultFieldRefs(source: Fields): void {
  for (const item of listAt(source, "items")) {
    const fieldRef = fieldsAt(item, "fieldRef");
    if (textAt(fieldRef, "fieldPath") !== undefined) setDefault(fieldRef, "apiVersion", "v1");
    const resourceRef = fieldsAt(item, "resourceFieldRef");
    if (textAt(resourceRef, "resource") !== undefined) setDefault(resourceRef, "divisor", "0");
  }
}
