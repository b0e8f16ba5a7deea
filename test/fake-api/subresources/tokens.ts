// serviceaccounts/token: a TokenRequest is answered with a signed token.

import {
  badRequest,
  conflict,
  FieldError,
  invalid,
  notFound,
  preconditionConflict,
} from "../../../src/workers/apiserver/objects/errors.js";
import {
  fieldsAt,
  nowText,
  textAt,
  timeText,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { API_AUDIENCE } from "../access/service-account-tokens.js";
import { restrictTokens } from "../admission/node-tokens.js";
import type { Target, WriteContext } from "../registry/request.js";
import { resourceNamed } from "../resources.js";
import { keyOf } from "../storage/store.js";

const SHORTEST = 600;
const LONGEST = 2 ** 32;
const USUAL = 3600;

export function requestToken(target: Target, body: ApiObject, { world, user }: WriteContext): Fields {
  const { resource, namespace, name } = target;
  const account = world.store.get(resource, keyOf(namespace, name));
  if (account === undefined) throw notFound(resource, name);
  checkAccount(name, body.metadata.uid, account);
  const spec = body.spec ?? {};
  const expiration = typeof spec["expirationSeconds"] === "number" ? spec["expirationSeconds"] : USUAL;
  checkExpiration(expiration);
  const requested = Array.isArray(spec["audiences"]) ? spec["audiences"].map(String) : [];
  const audiences = requested.length === 0 ? [API_AUDIENCE] : requested;
  const reference = fieldsAt(spec, "boundObjectRef");
  const bound = textAt(reference, "kind");
  if (bound !== undefined && !["Pod", "Secret", "Node"].includes(bound)) {
    throw badRequest(`cannot bind token for serviceaccount "${name}" to ${bound}: only Pod, Secret and Node objects`);
  }
  const found = bound === undefined ? undefined : boundObject(target, bound, reference, world.store);
  if (world.settings.nodeRestriction) restrictTokens(target, body, { world, user, dryRun: false }, found);
  if (bound !== undefined && found === undefined) throw notFound(resourceNamed(bound), textAt(reference, "name") ?? "");
  if (bound === "Pod" && textAt(found?.spec, "serviceAccountName") !== name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${name}" to pod running with different serviceaccount name.`,
    );
  }
  checkUid(bound, reference, found);
  const nodeName = bound === "Pod" ? textAt(found?.spec, "nodeName") : undefined;
  const known = nodeName === undefined ? undefined : world.store.get(resourceNamed("nodes"), nodeName);
  // A node that has no object yet is named all the same.
  const node = nodeName === undefined ? undefined : { name: nodeName, uid: known?.metadata.uid };
  const token = world.tokens.issue({
    account,
    audiences,
    expiration,
    ...(found !== undefined && bound === "Pod" ? { pod: found } : {}),
    ...(found !== undefined && bound === "Secret" ? { secret: found } : {}),
    ...(bound === "Node" && found !== undefined ? { node: found.metadata } : node === undefined ? {} : { node }),
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, uid: account.metadata.uid, creationTimestamp: nowText(world.clock) },
    spec: { audiences, expirationSeconds: expiration, boundObjectRef: bound === undefined ? null : reference },
    status: { token, expirationTimestamp: timeText(world.clock.now() + expiration * 1000) },
  };
}

/** The account that is meant may have been made anew under its name. */
function checkAccount(name: string, uid: string | undefined, { metadata }: ApiObject): void {
  if (uid === undefined || uid === "" || uid === metadata.uid) return;
  const of = { group: "authentication.k8s.io", resource: "TokenRequest", kind: "TokenRequest" };
  const own = metadata.uid ?? "";
  const why = `the UID in the token request (${uid}) does not match the UID of the service account (${own})`;
  throw conflict(of, name, why);
}

function checkExpiration(expiration: number): void {
  const of = { group: "authentication.k8s.io", kind: "TokenRequest" };
  const path = "spec.expirationSeconds";
  if (expiration < SHORTEST) {
    throw invalid(of, "", [FieldError.invalid(path, expiration, "may not specify a duration less than 10 minutes")]);
  }
  if (expiration > LONGEST) {
    throw invalid(of, "", [
      FieldError.invalid(path, expiration, "may not specify a duration larger than 2^32 seconds"),
    ]);
  }
}

function boundObject(
  target: Target,
  kind: string,
  reference: Fields,
  store: WriteContext["world"]["store"],
): ApiObject | undefined {
  const resource = resourceNamed(kind);
  return store.get(resource, keyOf(resource.namespaced ? target.namespace : "", textAt(reference, "name") ?? ""));
}

function checkUid(kind: string | undefined, reference: Fields, found: ApiObject | undefined): void {
  const uid = textAt(reference, "uid");
  if (kind === undefined || found === undefined || uid === undefined || uid === found.metadata.uid) return;
  const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw preconditionConflict(resourceNamed(kind), found.metadata.name, why);
}
