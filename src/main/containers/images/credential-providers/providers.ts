// All credential providers of the node, called in the order of the configuration. If one fails, the pull continues
// without its credentials. Other providers may have some, and the registry may need none.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { quote } from "../../../../shared/base/text/quote.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import { verbose, type Logger } from "../../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../../shared/telemetry/metrics/thread-registry.js";
import type { ClusterAccess } from "../../../model/cluster-access.js";
import type { PullCredentials } from "../credentials.js";
import type { ProviderCredentials } from "../keyring/keyring-credentials.js";
import type { CredentialProviderSettings } from "./config.js";
import { execPlugin, type PluginQuestion } from "./exec-plugin.js";
import type { LoadedProviders } from "./load-config.js";
import { credentialProviderMetrics, type CredentialProviderMetrics } from "./metrics.js";
import { introduce, PodIdentityError } from "./pod-identity.js";
import { CredentialProvider } from "./provider.js";
import { PluginError, type PluginResponse } from "./response.js";

export interface ProvidersDeps {
  clock: Clock;
  log: Logger;
  registry: ThreadRegistry;
  /** Absent on a stand-alone node. */
  cluster?: ClusterAccess | undefined;
}

export class CredentialProviders implements ProviderCredentials {
  private readonly providers: CredentialProvider[];
  private readonly metrics: CredentialProviderMetrics;

  constructor(
    private readonly loaded: LoadedProviders,
    private readonly deps: ProvidersDeps,
  ) {
    this.metrics = credentialProviderMetrics(deps.registry);
    this.metrics.configured(loaded.hash);
    const run = this.exec.bind(this);
    this.providers = loaded.providers.map((settings) => new CredentialProvider(settings, deps.clock, run));
    if (deps.cluster === undefined) this.logUnusedConfig();
  }

  forImage(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]> {
    return this.askAll(this.providers, pod, image, signal);
  }

  async ofServiceAccount(pod: Pod, image: string, signal: AbortSignal): Promise<PullCredentials[]> {
    const wanted = this.providers.filter(({ settings }) => settings.tokenAttributes !== undefined);
    const found = await this.askAll(wanted, pod, image, signal);
    return found.filter(({ source }) => source.kind === "serviceAccount");
  }

  private async askAll(
    providers: readonly CredentialProvider[],
    pod: Pod,
    image: string,
    signal: AbortSignal,
  ): Promise<PullCredentials[]> {
    const asked = providers.filter((provider) => provider.matches(image));
    return (await Promise.all(asked.map((provider) => this.ask(provider, pod, image, signal)))).flat();
  }

  private async ask(
    provider: CredentialProvider,
    pod: Pod,
    image: string,
    signal: AbortSignal,
  ): Promise<PullCredentials[]> {
    const { name, tokenAttributes } = provider.settings;
    const { log, cluster } = this.deps;
    try {
      const introduction =
        tokenAttributes === undefined
          ? ({ kind: "anonymous" } as const)
          : await introduce(pod, tokenAttributes, cluster, signal);
      if (introduction.kind === "not served") {
        // Not to have an annotation is how a workload stays out.
        verbose(log, 5)?.({ provider: name, image }, `skipping credential provider ${name}: ${introduction.why}`);
        return [];
      }
      const identity = introduction.kind === "account" ? introduction.identity : undefined;
      const auths = await provider.credentials({ image, identity }, signal);
      const source =
        identity === undefined
          ? ({ kind: "node" } as const)
          : ({ kind: "serviceAccount", ...identity.account } as const);
      return auths.map((auth) => ({ auth, source }));
    } catch (error) {
      if (!(error instanceof PluginError) && !(error instanceof PodIdentityError)) throw error;
      const why =
        error instanceof PluginError ? error.message : `skipping credential provider ${name}: ${error.message}`;
      log.error({ provider: name, image, err: error }, `no credentials for image ${quote(image)}: ${why}`);
      return [];
    }
  }

  private async exec(
    settings: CredentialProviderSettings,
    question: PluginQuestion,
    signal: AbortSignal,
  ): Promise<PluginResponse> {
    const { clock } = this.deps;
    const startedAt = clock.monotonic();
    try {
      return await execPlugin({ binDir: this.loaded.binDir, settings, question, clock, signal });
    } catch (error) {
      if (error instanceof PluginError) this.metrics.failed(settings.name);
      throw error;
    } finally {
      this.metrics.ran(settings.name, clock.monotonic() - startedAt);
    }
  }

  /** A stand-alone node has static pods only. */
  private logUnusedConfig(): void {
    for (const { name, tokenAttributes } of this.loaded.providers) {
      if (tokenAttributes?.requireServiceAccount !== true) continue;
      const why = "it requires a service account, and pods of a node without a cluster have none";
      this.deps.log.warn({ provider: name }, `credential provider ${name} is never used: ${why}`);
    }
  }
}
