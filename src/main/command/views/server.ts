// The kubelet's ports: addresses, TLS, authentication, authorization, and which handlers they serve.

import { TLS_CIPHERS, TLS_CURVES, TLS_VERSIONS } from "../../../shared/kubernetes/api/tls-names.js";
import { plainIP } from "../plain-ip.js";
import { SECOND, type ConfigReader } from "./reader.js";

export function serverSettings(read: ConfigReader) {
  return {
    enableServer: read.bool("enableServer"),
    address: plainIP(read.text("address")) ?? "",
    port: read.number("port"),
    /** 0: off. */
    readOnlyPort: read.number("readOnlyPort"),
    /** 0: off. */
    healthzPort: read.number("healthzPort"),
    healthzBindAddress: plainIP(read.text("healthzBindAddress")) ?? "",
    serverTLSBootstrap: read.bool("serverTLSBootstrap"),
    tlsCertFile: read.text("tlsCertFile"),
    tlsPrivateKeyFile: read.text("tlsPrivateKeyFile"),
    tlsMinVersion: TLS_VERSIONS.get(read.text("tlsMinVersion")) ?? ("TLSv1.2" as const),
    /** tlsCipherSuites by OpenSSL's names; empty: OpenSSL's choice. */
    tlsCiphers: read.texts("tlsCipherSuites").flatMap((name) => TLS_CIPHERS.get(name) ?? []),
    /** tlsCurvePreferences by OpenSSL's names; empty: OpenSSL's choice. */
    tlsCurves: (read.config.get("tlsCurvePreferences") ?? []).flatMap((id) => TLS_CURVES.get(id)?.openssl ?? []),
    authentication: {
      anonymous: read.bool("authentication.anonymous.enabled"),
      clientCAFile: read.text("authentication.x509.clientCAFile"),
      webhook: read.bool("authentication.webhook.enabled"),
      cacheTTLMs: read.number("authentication.webhook.cacheTTL"),
    },
    authorization: {
      mode: read.text("authorization.mode") === "AlwaysAllow" ? ("AlwaysAllow" as const) : ("Webhook" as const),
      cacheAuthorizedTTLMs: read.number("authorization.webhook.cacheAuthorizedTTL"),
      cacheUnauthorizedTTLMs: read.number("authorization.webhook.cacheUnauthorizedTTL"),
    },
    enableDebuggingHandlers: read.bool("enableDebuggingHandlers"),
    enableSystemLogHandler: read.bool("enableSystemLogHandler"),
    enableSystemLogQuery: read.bool("enableSystemLogQuery"),
    enableProfilingHandler: read.bool("enableProfilingHandler"),
    enableDebugFlagsHandler: read.bool("enableDebugFlagsHandler"),
    streamingConnectionIdleTimeoutMs: read.period("streamingConnectionIdleTimeout", 4 * 3600 * SECOND),
    serverGates: {
      podLogsQuerySplitStreams: read.gate("PodLogsQuerySplitStreams"),
      containerCheckpoint: read.gate("ContainerCheckpoint"),
      componentFlagz: read.gate("ComponentFlagz"),
      componentStatusz: read.gate("ComponentStatusz"),
      extendWebSocketsToKubelet: read.gate("ExtendWebSocketsToKubelet"),
    },
    podAndContainerStatsFromCRI: read.gate("PodAndContainerStatsFromCRI"),
  };
}
