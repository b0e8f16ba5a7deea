// Warnings at start about settings that are allowed but probably wrong.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { TLS_CIPHERS, TLS_CURVES } from "../../../shared/kubernetes/api/tls-names.js";
import type { FieldPath } from "../fields/fields.js";
import { plainIP } from "../plain-ip.js";
import { parsePercentage } from "./parse-percentage.js";
import type { ConfigView } from "./rule.js";
import { parseTracingEndpoint } from "./tracing-endpoint.js";

/** Fields that are still accepted and do nothing, or soon will not. */
const OLD_FIELDS: readonly (readonly [FieldPath, string])[] = [
  ["iptablesMasqueradeBit", "has had no effect since Kubernetes 1.28; remove it"],
  ["iptablesDropBit", "has had no effect since Kubernetes 1.28; remove it"],
  [
    "streamingConnectionIdleTimeout",
    "is deprecated since Kubernetes 1.34: the runtime closes idle streams; set it in the runtime's configuration",
  ],
];

/** A line for the log each. */
export function configWarnings(config: ConfigView): string[] {
  return [
    ...cgroupPrefix(config),
    ...oldFields(config),
    ...unusableTls(config),
    ...tracing(config),
    ...withoutEffect(config),
    ...alwaysMet(config),
  ];
}

function* tracing(config: ConfigView): Iterable<string> {
  const endpoint = config.get("tracing.endpoint") ?? "";
  if (endpoint === "" || parseTracingEndpoint(endpoint)?.scheme !== "unix-abstract") return;
  yield `tracing.endpoint ${quoteStart(endpoint)}: Node's gRPC library cannot connect to abstract sockets; no traces are sent`;
}

function* cgroupPrefix(config: ConfigView): Iterable<string> {
  const own = config.get("kubeletCgroups") ?? "";
  const reserved = config.get("kubeReservedCgroup") ?? "";
  if (own === "" || reserved === "" || isBelow(own, reserved)) return;
  yield `kubeletCgroups ${quoteStart(own)} is not within kubeReservedCgroup ${quoteStart(reserved)}: the kubelet's own usage would not count as reserved; move it below`;
}

function isBelow(path: string, parent: string): boolean {
  const parts = (text: string): string[] => text.split("/").filter((part) => part !== "");
  const own = parts(path);
  return parts(parent).every((part, index) => own[index] === part);
}

function* oldFields(config: ConfigView): Iterable<string> {
  for (const [path, fate] of OLD_FIELDS) if (config.isSet(path)) yield `${path} ${fate}`;
}

function* unusableTls(config: ConfigView): Iterable<string> {
  const ciphers = config.get("tlsCipherSuites") ?? [];
  for (const name of ciphers) {
    if (TLS_CIPHERS.has(name) && TLS_CIPHERS.get(name) === undefined) {
      yield `tlsCipherSuites: ${name} is insecure and not supported; it is ignored`;
    }
  }
  if (ciphers.length > 0 && config.get("tlsMinVersion") === "VersionTLS13") {
    yield "tlsCipherSuites has no effect with tlsMinVersion: VersionTLS13: the ciphers of TLS 1.3 cannot be configured";
  }
  for (const id of config.get("tlsCurvePreferences") ?? []) {
    const curve = TLS_CURVES.get(id);
    if (curve !== undefined && curve.openssl === undefined) {
      yield `tlsCurvePreferences: ${id} (${curve.name}) is not supported; it is ignored`;
    }
  }
}

function* withoutEffect(config: ConfigView): Iterable<string> {
  if (Object.keys(config.get("qosReserved") ?? {}).length > 0 && !config.gate("QOSReserved")) {
    yield "qosReserved has no effect while the feature gate QOSReserved is off";
  }
  for (const address of config.get("clusterDNS") ?? []) {
    if (plainIP(address) === undefined) yield `clusterDNS: ${quoteStart(address)} is not an IP address; it is ignored`;
  }
}

/** "100.0%", which was meant to turn the signal off. */
function* alwaysMet(config: ConfigView): Iterable<string> {
  for (const field of ["evictionHard", "evictionSoft"] as const) {
    for (const [signal, text] of Object.entries(config.get(field) ?? {})) {
      if (text === "100%" || parsePercentage(text) !== 100) continue;
      yield `${field}[${signal}]: ${quoteStart(text)} is a threshold that is always met; "100%" turns the signal off`;
    }
  }
}
