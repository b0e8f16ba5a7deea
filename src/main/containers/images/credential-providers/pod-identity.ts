// The pod identity that a plugin receives with an image request. It is a token of the pod's service account, for the
// plugin's audience and bound to the pod. The account's annotations that the configuration names come with it.
// Invariant: a static pod has no service account, even if its manifest names one; no message contains a part of a
// token.

import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { SERVICE_ACCOUNTS } from "../../../../shared/kubernetes/api/client/kinds.js";
import type { ServiceAccount } from "../../../../shared/kubernetes/api/objects.js";
import { isStaticPod, type Pod } from "../../../../shared/kubernetes/api/pod.js";
import { type ClusterAccess } from "../../../model/cluster-access.js";
import { joined } from "../../../model/joined-cluster.js";
import type { TokenAttributes } from "./config.js";

export interface PodIdentity {
  account: { uid: string; namespace: string; name: string };
  /** By key; only those that the plugin may see. */
  annotations: Readonly<Record<string, string>>;
  token: string;
}

/** "anonymous": the request to the plugin carries no token. */
export type Introduction =
  | { kind: "account"; identity: PodIdentity }
  | { kind: "anonymous" }
  /** The plugin is not run at all. */
  | { kind: "not served"; why: string };

/** The service account does not exist, or the API server issues no token for it. */
export class PodIdentityError extends Error {
  override readonly name = "PodIdentityError";
}

/** Rejects with PodIdentityError, or the signal's reason. */
export async function introduce(
  pod: Pod,
  attributes: TokenAttributes,
  access: ClusterAccess | undefined,
  signal: AbortSignal,
): Promise<Introduction> {
  const { namespace } = pod.metadata;
  const name = accountOf(pod);
  if (name === "") {
    return attributes.requireServiceAccount
      ? { kind: "not served", why: "the pod has no service account" }
      : { kind: "anonymous" };
  }
  const what = `service account ${namespace}/${name}`;
  try {
    const { client, tokens } = joined(access);
    const { metadata } = await client.get<ServiceAccount>(SERVICE_ACCOUNTS, { namespace, name }, { signal });
    const { uid = "", annotations = {} } = metadata;
    const missing = attributes.requiredServiceAccountAnnotationKeys.find((key) => annotations[key] === undefined);
    if (missing !== undefined) return { kind: "not served", why: `${what} has no annotation ${missing}` };
    const audience = attributes.serviceAccountTokenAudience;
    const { token } = await tokens.get({ pod, audience, serviceAccountUid: uid }, signal);
    const identity = { account: { uid, namespace, name }, annotations: shown(annotations, attributes), token };
    return { kind: "account", identity };
  } catch (error) {
    signal.throwIfAborted();
    const why = messageOf(error);
    throw new PodIdentityError(`no token of ${what} for it: ${why}`, { cause: error });
  }
}

function accountOf(pod: Pod): string {
  return isStaticPod(pod) ? "" : (pod.spec.serviceAccountName ?? "");
}

function shown(annotations: Readonly<Record<string, string>>, attributes: TokenAttributes): Record<string, string> {
  const keys = [...attributes.requiredServiceAccountAnnotationKeys, ...attributes.optionalServiceAccountAnnotationKeys];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = annotations[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
