// Runs of credential provider plugins, under upstream's names. Main thread only.

import type { ThreadRegistry } from "../../../../shared/telemetry/metrics/thread-registry.js";

export interface CredentialProviderMetrics {
  configured(hash: string): void;
  ran(plugin: string, durationMs: number): void;
  failed(plugin: string): void;
}

export function credentialProviderMetrics(registry: ThreadRegistry): CredentialProviderMetrics {
  const plugin = ["plugin_name"] as const;
  const info = registry.gauge(
    "kubelet_credential_provider_config_info",
    "Hash of the credential provider configuration in use; always 1",
    ["hash"],
  );
  const duration = registry.histogram(
    "kubelet_credential_provider_plugin_duration",
    "Duration of execution in seconds for the credential provider plugin",
    plugin,
  );
  const errors = registry.counter(
    "kubelet_credential_provider_plugin_errors_total",
    "Number of errors from credential provider plugins",
    plugin,
  );
  return {
    configured: (hash) => info.set({ hash }, 1),
    ran: (name, durationMs) => duration.observe({ plugin_name: name }, durationMs / 1000),
    failed: (name) => errors.inc({ plugin_name: name }),
  };
}
