// CertificateSigningRequests: records the requester. If the world is set to it, requests of nodes are approved and
// signed at once. The controller manager would do so a moment later.

import { FieldError, forbidden } from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  fieldsAt,
  listAt,
  nowText,
  textAt,
  type ApiObject,
} from "../../../src/workers/apiserver/objects/object.js";
import type { Usage } from "../certificates/authority.js";
import { readSigningRequest, type SigningRequest } from "../certificates/signing-request.js";
import { ensureFields, setDefault } from "../fields.js";
import { resourceNamed } from "../resources.js";
import type { World } from "../world.js";
import type { Strategy } from "./strategy.js";

const NODE_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
const NODE_SERVING_SIGNER = "kubernetes.io/kubelet-serving";
const SIGNERS = [NODE_CLIENT_SIGNER, NODE_SERVING_SIGNER, "kubernetes.io/kube-apiserver-client"];
const SHORTEST_SECONDS = 600;

export const certificateRequestStrategy: Strategy = {
  prepareCreate(object, _world, user) {
    const spec = ensureFields(object, "spec");
    checkRequest(object);
    spec["username"] = user.name;
    spec["groups"] = [...user.groups];
    if (user.uid !== undefined) spec["uid"] = user.uid;
    if (user.extra !== undefined) spec["extra"] = user.extra;
    object.status = {};
  },

  validate(object) {
    const errors: FieldError[] = [];
    const spec = object.spec ?? {};
    if (textAt(spec, "signerName") === undefined) errors.push(FieldError.required("spec.signerName"));
    if (!Array.isArray(spec["usages"]) || spec["usages"].length === 0) errors.push(FieldError.required("spec.usages"));
    const seconds = spec["expirationSeconds"];
    if (typeof seconds === "number" && seconds < SHORTEST_SECONDS) {
      errors.push(
        FieldError.invalid(
          "spec.expirationSeconds",
          seconds,
          "may not specify a duration less than 600 seconds (10 minutes)",
        ),
      );
    }
    return errors;
  },

  prepareUpdate(next, old, subresource, world) {
    next.spec = copyOf(old.spec ?? {});
    if (subresource === "approval") {
      const conditions = listAt(next.status, "conditions");
      for (const condition of conditions) {
        for (const time of ["lastUpdateTime", "lastTransitionTime"]) setDefault(condition, time, nowText(world.clock));
      }
      next.status = { ...copyOf(old.status ?? {}), conditions };
    }
  },

  created(object, world) {
    const { approveCertificates, approveServingCertificates } = world.settings;
    const isServing = textAt(object.spec, "signerName") === NODE_SERVING_SIGNER;
    if ((isServing ? approveServingCertificates : approveCertificates) && isOfNode(object)) approve(object, world);
  },

  updated: signWhenApproved,
};

function checkRequest(object: ApiObject): void {
  try {
    requestOf(object);
  } catch (error) {
    const why = `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`;
    throw forbidden(resourceNamed("CertificateSigningRequest"), object.metadata.name, why);
  }
}

function requestOf(object: ApiObject): SigningRequest {
  return readSigningRequest(Buffer.from(textAt(object.spec, "request") ?? "", "base64").toString());
}

/** The request that the controller manager's approver accepts: a node's own client certificate. */
function isOfNode(object: ApiObject): boolean {
  const { commonName, organizations } = requestOf(object);
  const signer = textAt(object.spec, "signerName");
  if (signer !== NODE_CLIENT_SIGNER && signer !== NODE_SERVING_SIGNER) return false;
  return commonName.startsWith("system:node:") && organizations.includes("system:nodes");
}

function approve(object: ApiObject, world: World): void {
  const condition = {
    type: "Approved",
    status: "True",
    reason: "AutoApproved",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
    lastUpdateTime: nowText(world.clock),
    lastTransitionTime: nowText(world.clock),
  };
  const approved = { ...copyOf(object), status: { ...object.status, conditions: [condition] } };
  signWhenApproved(world.store.put(resourceNamed("CertificateSigningRequest"), approved), world);
}

function signWhenApproved(object: ApiObject, world: World): void {
  const status = object.status ?? {};
  const types = listAt(status, "conditions").map(({ type }) => type);
  const signer = textAt(object.spec, "signerName") ?? "";
  const isOpen = types.includes("Approved") && !types.includes("Denied") && !types.includes("Failed");
  if (!isOpen || status["certificate"] !== undefined || !SIGNERS.includes(signer)) return;
  const wanted = fieldsAt(object, "spec")["expirationSeconds"];
  const lifeMs = Math.min(typeof wanted === "number" ? wanted * 1000 : Infinity, world.settings.certificateLifeMs);
  const usages: Usage[] = signer === NODE_SERVING_SIGNER ? ["server"] : ["client"];
  const certificate = world.authority.signRequest(requestOf(object), usages, {
    lifeMs,
    fromMs: -world.settings.certificateBackdateMs,
  });
  const signed = { ...copyOf(object), status: { ...status, certificate: Buffer.from(certificate).toString("base64") } };
  world.store.put(resourceNamed("CertificateSigningRequest"), signed);
}
