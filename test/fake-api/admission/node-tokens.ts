// A kubelet gets tokens only for pods on its node, as their service accounts. The audiences must be requested by the
// pods, or be allowed for the node.

import { forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import { fieldsAt, listAt, textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { authorize } from "../access/authorize.js";
import { API_AUDIENCE } from "../access/service-account-tokens.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import type { World } from "../world.js";
import { nodeOf } from "./node-restriction.js";

export function restrictTokens(
  target: Target,
  request: ApiObject,
  { world, user }: WriteContext,
  pod: ApiObject | undefined,
): void {
  const node = nodeOf(user);
  if (node === undefined) return;
  const refuse = (why: string): Error => forbidden(target.resource, target.name, why);
  const reference = fieldsAt(request.spec, "boundObjectRef");
  if (reference["kind"] !== "Pod" || reference["apiVersion"] !== "v1") {
    throw refuse("node requested token not bound to a pod");
  }
  const [uid, name = ""] = [textAt(reference, "uid"), textAt(reference, "name")];
  if (uid === undefined) throw refuse("node requested token with a pod binding without a uid");
  if (pod === undefined) throw refuse(`pod "${name}" not found`);
  if (pod.metadata.uid !== uid) {
    throw refuse(
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (textAt(pod.spec, "nodeName") !== node)
    throw refuse("node requested token bound to a pod scheduled on a different node");
  const audiences = listOf(request.spec?.["audiences"]);
  const mayAsk = (audience: string): boolean => {
    const verb = "request-serviceaccounts-token-audience";
    const { name, namespace } = target;
    const none = { group: "", subresource: "", path: "", fieldSelector: "" };
    return authorize(world, user, { ...none, verb, resource: audience, namespace, name, isResource: true }).allowed;
  };
  if (audiences.length > 1) throw refuse("node may only request 0 or 1 audiences");
  for (const audience of audiences) {
    if (audience !== API_AUDIENCE && !audiencesOf(world, pod).has(audience) && !mayAsk(audience)) {
      throw refuse(
        `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
      );
    }
  }
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String).filter((one) => one !== "") : [];
}

/** The audiences of the pod's projected volumes and its CSI drivers. */
function audiencesOf(world: World, pod: ApiObject): Set<string> {
  const found = new Set<string>();
  for (const volume of listAt(pod.spec, "volumes")) {
    for (const source of listAt(fieldsAt(volume, "projected"), "sources")) {
      const audience = textAt(fieldsAt(source, "serviceAccountToken"), "audience");
      if (audience !== undefined) found.add(audience);
    }
    for (const driver of driversOf(world, pod, volume)) {
      const stored = world.store.get(resourceNamed("csidrivers"), driver);
      for (const request of listAt(stored?.spec, "tokenRequests")) found.add(textAt(request, "audience") ?? "");
    }
  }
  return found;
}

function driversOf(world: World, pod: ApiObject, volume: Record<string, unknown>): string[] {
  const inline = textAt(fieldsAt(volume, "csi"), "driver");
  const claim = textAt(fieldsAt(volume, "persistentVolumeClaim"), "claimName");
  const made = volume["ephemeral"] === undefined ? undefined : `${pod.metadata.name}-${textAt(volume, "name") ?? ""}`;
  const name = claim ?? made;
  const stored =
    name === undefined
      ? undefined
      : world.store.get(resourceNamed("persistentvolumeclaims"), `${pod.metadata.namespace ?? ""}/${name}`);
  const bound = textAt(stored?.spec, "volumeName");
  const persistent = bound === undefined ? undefined : world.store.get(resourceNamed("persistentvolumes"), bound);
  const driver = textAt(fieldsAt(persistent?.spec, "csi"), "driver");
  return [inline, driver].filter((one) => one !== undefined);
}
