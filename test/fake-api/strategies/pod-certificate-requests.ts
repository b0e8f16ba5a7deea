// PodCertificateRequests (certificates.k8s.io/v1beta1): the requester must hold the key. A signer's verdict is one of
// three, checked against the key and its times.

import { createPublicKey, X509Certificate } from "node:crypto";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import { FieldError } from "../../../src/workers/apiserver/objects/errors.js";
import {
  copyOf,
  fieldsAt,
  isSame,
  listAt,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { readSigningRequestDer } from "../certificates/signing-request.js";
import { ensureFields, setDefault } from "../fields.js";
import type { Strategy } from "./strategy.js";

const DAY_S = 86_400;
const SHORTEST_S = 3600;
const LONGEST_S = 91 * DAY_S;
const LAST_WORDS = ["Issued", "Denied", "Failed"];
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];
const MODULI = [3072, 4096];
const REQUEST = "spec.stubPKCS10Request";
const CHAIN = "status.certificateChain";
const WHO = ["podName", "podUID", "serviceAccountName", "serviceAccountUID", "nodeName", "nodeUID"];

export const podCertificateRequestStrategy: Strategy = {
  defaults(request) {
    setDefault(ensureFields(request, "spec"), "maxExpirationSeconds", DAY_S);
  },

  validate(request) {
    const spec = request.spec ?? {};
    const errors = WHO.filter((field) => textAt(spec, field) === undefined).map((field) =>
      FieldError.invalid(`spec.${field}`, "", "must not be empty"),
    );
    if (!/^[^/.]+\.[^/]+\/.+$/.test(textAt(spec, "signerName") ?? "")) {
      const text = 'must be a fully qualified domain and path of the form "example.com/signer-name"';
      errors.push(FieldError.invalid("spec.signerName", spec["signerName"], text));
    }
    errors.push(...lifeErrors(spec), ...keyErrors(spec));
    return errors;
  },

  prepareUpdate(next, old, subresource) {
    if (subresource === "status") next.spec = copyOf(old.spec ?? {});
  },

  validateUpdate(next, old, subresource, { clock }) {
    if (subresource === "status") return statusErrors(next, old, clock);
    return isSame(next.spec, old.spec) ? [] : [FieldError.invalid("spec", next.spec, "field is immutable")];
  },
};

function lifeErrors(spec: Fields): FieldError[] {
  const seconds = Number(spec["maxExpirationSeconds"]);
  const longest = /^([^/]+\.)?kubernetes\.io\//.test(textAt(spec, "signerName") ?? "") ? DAY_S : LONGEST_S;
  if (seconds >= SHORTEST_S && seconds <= longest) return [];
  return [FieldError.invalid("spec.maxExpirationSeconds", seconds, `must be in the range [${SHORTEST_S}, ${longest}]`)];
}

/** The request is signed with its own key, which is of a kind that is allowed. */
function keyErrors(spec: Fields): FieldError[] {
  const text = textAt(spec, "stubPKCS10Request");
  if (text === undefined) {
    const which = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
    return [FieldError.invalid("spec", undefined, which)];
  }
  try {
    const { publicKey } = readSigningRequestDer(Buffer.from(text, "base64"));
    const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
    const { modulusLength = 0, namedCurve = "" } = key.asymmetricKeyDetails ?? {};
    if (key.asymmetricKeyType === "ed25519") return [];
    if (key.asymmetricKeyType === "rsa") {
      if (MODULI.includes(modulusLength)) return [];
      return [
        FieldError.invalid(REQUEST, `${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096"),
      ];
    }
    if (CURVES.includes(namedCurve)) return [];
    return [
      FieldError.invalid(REQUEST, `curve ${namedCurve}`, "elliptic public keys must use curve P256, P384, or P521"),
    ];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isForged = error.message.includes("not signed with its key");
    return [FieldError.invalid(REQUEST, undefined, isForged ? "invalid signature" : "must be a valid PKCS#10 CSR")];
  }
}

function lastWord(request: ApiObject): Fields | undefined {
  return listAt(request.status, "conditions").find(({ type }) => LAST_WORDS.includes(String(type)));
}

function statusErrors(next: ApiObject, old: ApiObject, clock: Clock): FieldError[] {
  const conditions = listAt(next.status, "conditions");
  const errors = conditions.flatMap((condition, index) => {
    const path = `status.conditions[${index}]`;
    const type = textAt(condition, "type") ?? "";
    if (!LAST_WORDS.includes(type)) return [FieldError.unsupported(`${path}.type`, type, LAST_WORDS)];
    if (condition["status"] !== "True") {
      return [FieldError.unsupported(`${path}.status`, String(condition["status"]), ["True"])];
    }
    if (textAt(condition, "reason") === undefined) return [FieldError.required(`${path}.reason`)];
    if (textAt(condition, "lastTransitionTime") === undefined) {
      return [FieldError.required(`${path}.lastTransitionTime`, "must be set")];
    }
    if (index === 0) return [];
    const text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
    return [FieldError.invalid(`${path}.type`, type, text)];
  });
  if (errors.length > 0) return errors;
  const changed = !isSame(next.status, old.status);
  if (lastWord(old) !== undefined) {
    if (!changed) return [];
    return [
      FieldError.invalid("status", undefined, "immutable after PodCertificateRequest is issued, denied, or failed"),
    ];
  }
  const word = lastWord(next);
  if (word === undefined) {
    if (!changed) return [];
    const text = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"';
    return [FieldError.invalid("status", undefined, text)];
  }
  if (word["type"] === "Issued") return issuedErrors(next, clock);
  const others = Object.keys(next.status ?? {}).filter((field) => field !== "conditions");
  const text = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
  return others.length === 0 ? [] : [FieldError.invalid("status", undefined, text)];
}

const MINUTE_MS = 60_000;

function issuedErrors(request: ApiObject, clock: Clock): FieldError[] {
  const chain = textAt(request.status, "certificateChain") ?? "";
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(chain);
  } catch {
    return [FieldError.invalid(CHAIN, chain, "issued certificate chain must contain at least one certificate")];
  }
  const { publicKey } = readSigningRequestDer(Buffer.from(textAt(request.spec, "stubPKCS10Request") ?? "", "base64"));
  if (!leaf.publicKey.export({ type: "spki", format: "der" }).equals(publicKey)) {
    return [FieldError.invalid(CHAIN, chain, "leaf certificate was not issued to the requested public key")];
  }
  const at = (field: string): number => Date.parse(textAt(request.status, field) ?? "");
  const [notBefore, notAfter, refresh] = [at("notBefore"), at("notAfter"), at("beginRefreshAt")];
  const from = Date.parse(leaf.validFrom);
  const lifeMs = Date.parse(leaf.validTo) - from;
  const wrong = (field: string, text: string): FieldError[] => [
    FieldError.invalid(`status.${field}`, fieldsAt(request, "status")[field], text),
  ];
  if (notBefore !== from)
    return wrong("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
  if (Math.abs(notBefore - clock.now()) >= 5 * MINUTE_MS) {
    return wrong("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
  }
  if (notAfter !== from + lifeMs) {
    return wrong("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
  }
  if (lifeMs < SHORTEST_S * 1000) return wrong("certificateChain", "leaf certificate lifetime must be >= 1 hour");
  const most = Number(request.spec?.["maxExpirationSeconds"]);
  if (lifeMs > most * 1000) {
    return wrong("certificateChain", `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${most})`);
  }
  if (!(refresh >= notBefore + 10 * MINUTE_MS)) {
    return wrong("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
  }
  return refresh <= notAfter - 10 * MINUTE_MS
    ? []
    : wrong("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
}
