// Defaults of containers and their probes, as every client finds them filled in.

import { fieldsAt, isFields, listAt, textAt, type Fields } from "../../../src/workers/apiserver/objects/object.js";
import { ensureFields, setDefault } from "../fields.js";

/** Kinds of containers of a pod spec, by field. */
export const CONTAINER_LISTS = ["initContainers", "containers", "ephemeralContainers"] as const;

export function defaultContainer(container: Fields): void {
  const image = textAt(container, "image") ?? "";
  setDefault(container, "imagePullPolicy", pullPolicyOf(image));
  setDefault(container, "terminationMessagePath", "/dev/termination-log");
  setDefault(container, "terminationMessagePolicy", "File");
  setDefault(container, "resources", {});
  const resources = container["resources"];
  if (isFields(resources)) requestsFromLimits(resources);
  for (const port of listAt(container, "ports")) setDefault(port, "protocol", "TCP");
  for (const variable of listAt(container, "env")) {
    const fieldRef = fieldsAt(fieldsAt(variable, "valueFrom"), "fieldRef");
    if (textAt(fieldRef, "fieldPath") !== undefined) setDefault(fieldRef, "apiVersion", "v1");
    const resourceRef = fieldsAt(fieldsAt(variable, "valueFrom"), "resourceFieldRef");
    if (textAt(resourceRef, "resource") !== undefined) setDefault(resourceRef, "divisor", "0");
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[name];
    if (isFields(probe)) defaultProbe(probe);
  }
  const lifecycle = fieldsAt(container, "lifecycle");
  for (const name of ["postStart", "preStop"]) defaultHttpGet(fieldsAt(lifecycle, name));
}

export function requestsFromLimits(resources: Fields): void {
  if (!isFields(resources["limits"])) return;
  const requests = ensureFields(resources, "requests");
  for (const [name, amount] of Object.entries(resources["limits"])) setDefault(requests, name, amount);
}

function defaultProbe(probe: Fields): void {
  setDefault(probe, "timeoutSeconds", 1);
  setDefault(probe, "periodSeconds", 10);
  setDefault(probe, "successThreshold", 1);
  setDefault(probe, "failureThreshold", 3);
  defaultHttpGet(probe);
  if (isFields(probe["grpc"])) probe["grpc"]["service"] ??= "";
}

function defaultHttpGet(handler: Fields): void {
  const httpGet = handler["httpGet"];
  if (!isFields(httpGet)) return;
  setDefault(httpGet, "path", "/");
  setDefault(httpGet, "scheme", "HTTP");
}

export function pullPolicyOf(image: string): "Always" | "IfNotPresent" {
  return isLatest(image) ? "Always" : "IfNotPresent";
}

/** No tag, or the tag "latest"; a digest is never latest. */
function isLatest(image: string): boolean {
  if (image.includes("@")) return false;
  const tag = /:([\w.-]+)$/.exec(image.slice(image.lastIndexOf("/") + 1))?.[1];
  return tag === undefined || tag === "latest";
}
