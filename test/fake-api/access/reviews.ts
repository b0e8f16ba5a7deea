// TokenReview and SubjectAccessReview: what a node's server asks about its callers.

import { badRequest, FieldError, invalid } from "../../../src/workers/apiserver/objects/errors.js";
import {
  fieldsAt,
  isFields,
  nowText,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { apiVersionOf, type Resource } from "../resources.js";
import type { User, World } from "../world.js";
import { userOfToken } from "./authenticate.js";
import { authorize } from "./authorize.js";
import { API_AUDIENCE } from "./service-account-tokens.js";

export function review(world: World, resource: Resource, body: ApiObject, caller: User): Fields {
  const spec = body.spec ?? {};
  const answer = (status: Fields): Fields => ({
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: resource.resource === "selfsubjectreviews" ? { creationTimestamp: nowText(world.clock) } : {},
    ...(resource.resource === "selfsubjectreviews" ? {} : { spec }),
    status,
  });
  switch (resource.resource) {
    case "tokenreviews":
      return answer(tokenVerdict(world, spec));
    case "selfsubjectreviews":
      return answer({ userInfo: userInfo(caller) });
    case "selfsubjectaccessreviews":
      return answer(accessVerdict(world, spec, caller));
    default:
      return answer(accessVerdict(world, spec, subjectOf(spec)));
  }
}

function tokenVerdict(world: World, spec: Fields): Fields {
  const token = textAt(spec, "token");
  if (token === undefined) throw badRequest("token is required for TokenReview in authentication");
  const requested = Array.isArray(spec["audiences"]) ? spec["audiences"].map(String) : [];
  const audiences = requested.length === 0 ? [API_AUDIENCE] : requested;
  const found = userOfToken(world, token, audiences);
  if (found === undefined) return { user: {}, error: tokenError(world, token, audiences) };
  return { authenticated: true, user: userInfo(found.user), audiences: found.audiences };
}

function tokenError({ tokens }: World, token: string, audiences: readonly string[]): string {
  const held = token.split(".").length === 3 ? tokens.verify(token)?.audiences : undefined;
  if (held === undefined) return "invalid bearer token";
  const list = (names: readonly string[]): string => `[${names.map((name) => `"${name}"`).join(" ")}]`;
  return `[invalid bearer token, token audiences ${list(held)} is invalid for the target audiences ${list(audiences)}]`;
}

function userInfo({ name, uid, groups, extra }: User): Fields {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(extra === undefined ? {} : { extra }),
  };
}

/** Reviews are refused without the name of their kind. */
const NAMELESS = { group: "authorization.k8s.io", kind: "" };

function subjectOf(spec: Fields): User {
  const groups = Array.isArray(spec["groups"]) ? spec["groups"].map(String) : [];
  if (textAt(spec, "user") === undefined && groups.length === 0) {
    throw invalid(NAMELESS, "", [
      FieldError.invalid("spec.user", "", "at least one of user or group must be specified"),
    ]);
  }
  return { name: textAt(spec, "user") ?? "", groups };
}

function accessVerdict(world: World, spec: Fields, user: User): Fields {
  const asked = spec["resourceAttributes"];
  const isResource = isFields(asked);
  const other = fieldsAt(spec, "nonResourceAttributes");
  if (!isResource && Object.keys(other).length === 0) {
    const text = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    throw invalid(NAMELESS, "", [FieldError.invalid("spec.resourceAttributes", null, text)]);
  }
  const read = (field: string): string => (isResource ? (textAt(asked, field) ?? "") : "");
  const { allowed, reason } = authorize(world, user, {
    verb: isResource ? read("verb") : (textAt(other, "verb") ?? ""),
    group: read("group"),
    resource: read("resource"),
    subresource: read("subresource"),
    namespace: read("namespace"),
    name: read("name"),
    path: textAt(other, "path") ?? "",
    isResource,
    fieldSelector: "",
  });
  return { allowed, ...(reason === "" ? {} : { reason }) };
}
