// NodeRestriction for certificate requests of a node. They are only for a pod of the API that runs on it, with the
// pod's own identity.

import { ApiError } from "../../../src/workers/apiserver/objects/errors.js";
import { textAt, type ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";
import { MIRROR } from "./service-account.js";

/** @param refuse makes the error of what no retry can mend */
export function restrictPodCertificate(
  { namespace }: Target,
  request: ApiObject,
  node: string,
  refuse: (why: string) => Error,
  { world }: WriteContext,
): void {
  const of = (field: string): string => textAt(request.spec, field) ?? "";
  const find = (resource: string, key: string): ApiObject | undefined => world.store.get(resourceNamed(resource), key);
  const [podName, account] = [of("podName"), of("serviceAccountName")];
  if (of("nodeName") !== node) {
    throw refuse(`PodCertificateRequest.Spec.NodeName="${of("nodeName")}", which is not the requesting node "${node}"`);
  }
  const what = `PodCertificateRequest for pod "${namespace}/${podName}"`;
  if (find("nodes", node)?.metadata.uid !== of("nodeUID")) throw late(`${what} names another node UID`);
  const pod = find("pods", keyOf(namespace, podName));
  if (pod === undefined || pod.metadata.uid !== of("podUID")) throw late(`${what} names a pod that is not there`);
  if (textAt(pod.spec, "nodeName") !== node)
    throw refuse(`pod "${namespace}/${podName}" is not running on node "${node}"`);
  if (pod.metadata.annotations?.[MIRROR] !== undefined) throw refuse(`pod "${namespace}/${podName}" is a mirror pod`);
  if (textAt(pod.spec, "serviceAccountName") !== account) {
    throw refuse(`${what} contains serviceAccountName ("${account}") that differs from running pod`);
  }
  if (find("serviceaccounts", keyOf(namespace, account))?.metadata.uid !== of("serviceAccountUID")) {
    throw late(`${what} names another service account UID`);
  }
}

/** Objects that the server's cache may still lack. */
function late(why: string): ApiError {
  return new ApiError(500, "InternalError", why);
}
