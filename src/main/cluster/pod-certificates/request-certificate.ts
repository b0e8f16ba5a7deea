// One PodCertificateRequest: the identity of the pod, and a key that only this node has.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { PodKey } from "../../../shared/contracts/tasks.js";
import { isNotFound, ApiError } from "../../../shared/kubernetes/api/client/errors.js";
import { SERVICE_ACCOUNTS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { PodCertificateRequest } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodCertificateProjection } from "../../../shared/kubernetes/api/volume.js";
import { serviceAccountOf } from "../../model/service-account.js";
import { PodCertificateError } from "./errors.js";
import type { RequestKinds } from "./request-kinds.js";

export interface RequestCertificateDeps {
  client: Pick<ApiClient, "get" | "create">;
  nodeName: string;
  kinds: RequestKinds;
  /** The latest known object of this node; undefined before the first read. */
  node(): Node | undefined;
}

/** The identity in the request, as the API server verifies it. */
export interface Requester {
  serviceAccountUID: string;
  nodeUID: string;
}

/** Rejects with PodCertificateError, ApiError, ApiConnectionError or the signal's reason. */
export async function requesterOf(deps: RequestCertificateDeps, pod: Pod, signal: AbortSignal): Promise<Requester> {
  const { client, nodeName } = deps;
  const { namespace } = pod.metadata;
  const account = await client.get(SERVICE_ACCOUNTS, { namespace, name: serviceAccountOf(pod) }, { signal });
  const nodeUID = deps.node()?.metadata.uid;
  if (nodeUID === undefined) throw new PodCertificateError(`the API server has not sent node ${nodeName} yet`);
  return { serviceAccountUID: account.metadata.uid ?? "", nodeUID };
}

/** As `requesterOf`. */
export async function createRequest(
  { client, kinds, nodeName }: RequestCertificateDeps,
  { pod, source, requester, key }: { pod: Pod; source: PodCertificateProjection; requester: Requester; key: PodKey },
  signal: AbortSignal,
): Promise<PodCertificateRequest> {
  const { name, namespace, uid } = pod.metadata;
  const { signerName, maxExpirationSeconds, userAnnotations } = source;
  const request = {
    kind: "PodCertificateRequest",
    metadata: {
      namespace,
      generateName: "req-",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    spec: omitUndefined<PodCertificateRequest["spec"]>({
      signerName,
      podName: name,
      podUID: uid,
      serviceAccountName: serviceAccountOf(pod),
      ...requester,
      nodeName,
      maxExpirationSeconds,
      stubPKCS10Request: key.request,
      unverifiedUserAnnotations: userAnnotations,
    }),
  };
  let cause: unknown;
  for (const kind of kinds.toTry()) {
    try {
      const made = await client.create(kind, { apiVersion: `${kind.group}/${kind.version}`, ...request }, { signal });
      kinds.found(kind);
      return made;
    } catch (error) {
      if (!isNotServed(error)) throw error;
      cause = error;
    }
  }
  throw new PodCertificateError(
    "the API server does not serve podcertificaterequests of certificates.k8s.io/v1 or v1beta1: one of 1.36 needs " +
      "--feature-gates=PodCertificateRequest=true and " +
      "--runtime-config=certificates.k8s.io/v1beta1/podcertificaterequests=true",
    { cause },
  );
}

/** The resource is not there. A namespace that is not there would be named. */
function isNotServed(error: unknown): boolean {
  return isNotFound(error) && error instanceof ApiError && (error.details.name ?? "") === "";
}
