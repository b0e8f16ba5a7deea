// TLS of the kubelet's server.

import { nearestName } from "../../../shared/base/text/nearest-name.js";
import { quoteStart } from "../../../shared/base/text/quote.js";
import { TLS_VERSIONS, TLS_CIPHERS, TLS_CURVES } from "../../../shared/kubernetes/api/tls-names.js";
import type { Violation } from "../violation.js";
import { notOneOf, needsGate } from "./check.js";
import type { ConfigView } from "./rule.js";

export function* tls(config: ConfigView): Iterable<Violation> {
  yield* ciphers(config);
  const version = config.get("tlsMinVersion") ?? "";
  if (version !== "" && !TLS_VERSIONS.has(version)) {
    yield { path: "tlsMinVersion", message: notOneOf(version, [...TLS_VERSIONS.keys()]) };
  }
  yield* curves(config);
  if (config.get("serverTLSBootstrap") === true && !config.gate("RotateKubeletServerCertificate")) {
    yield needsGate("serverTLSBootstrap", "RotateKubeletServerCertificate");
  }
}

function* ciphers(config: ConfigView): Iterable<Violation> {
  const path = "tlsCipherSuites";
  const names = config.get(path) ?? [];
  for (const [index, name] of names.entries()) {
    if (TLS_CIPHERS.has(name)) continue;
    const meant = nearestName(name, TLS_CIPHERS.keys()) ?? "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    yield {
      path: `${path}[${index}]`,
      message: `${quoteStart(name)} is not the name of a cipher suite; did you mean ${meant}?`,
    };
  }
  if (names.length > 0 && names.every((name) => TLS_CIPHERS.has(name) && TLS_CIPHERS.get(name) === undefined)) {
    yield { path, message: "lists only insecure ciphers (RC4, 3DES), which are not supported; add a secure one" };
  }
}

function* curves(config: ConfigView): Iterable<Violation> {
  const path = "tlsCurvePreferences";
  const ids = config.get(path) ?? [];
  const seen = new Set<number>();
  for (const [index, id] of ids.entries()) {
    const at = `${path}[${index}]`;
    if (id < 1 || id > 65535) yield { path: at, message: `${id} is not a number from 1 to 65535` };
    else if (!TLS_CURVES.has(id))
      yield { path: at, message: `${id} is not a known curve; known curves are ${knownCurves()}` };
    if (seen.has(id)) yield { path: at, message: `${id} is listed twice; list it once` };
    seen.add(id);
  }
  if (ids.length > 0 && ids.every((id) => TLS_CURVES.has(id) && TLS_CURVES.get(id)?.openssl === undefined)) {
    yield { path, message: "lists only unsupported curves; add 29 (X25519) or 23 (P-256)" };
  }
}

function knownCurves(): string {
  return [...TLS_CURVES].map(([id, { name }]) => `${id} (${name})`).join(", ");
}
