// All credential providers of the node, asked in the order of the configuration. One that fails costs the pull its
// credentials, not the pull: others may have some, and the registry may want none.
import type { Clock } from "../../../shared/clock/clock.js";
import type { AuthConfig } from "../../../shared/cri/gen/runtime.v1.js";
import type { Logger } from "../../../shared/log/logger.js";
import {
  credentialProviderMetrics,
  type CredentialProviderMetrics,
} from "../../../shared/metrics/credential-providers.js";
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";
import type { NodeCredentials } from "../keyring/keyring-credentials.js";
import type { CredentialProviderSettings } from "./config.js";
import { execPlugin } from "./exec-plugin.js";
import type { LoadedProviders } from "./load-config.js";
import { CredentialProvider } from "./provider.js";
import { isPluginError, type PluginResponse } from "./response.js";

export interface ProvidersDeps {
  clock: Clock;
  log: Logger;
  registry: ThreadRegistry;
}

export class CredentialProviders implements NodeCredentials {
  private readonly providers: CredentialProvider[];
  private readonly metrics: CredentialProviderMetrics;
  private readonly told = new Set<string>();

  constructor(
    private readonly loaded: LoadedProviders,
    private readonly deps: ProvidersDeps,
  ) {
    this.metrics = credentialProviderMetrics(deps.registry);
    this.metrics.configured(loaded.hash);
    const run = this.exec.bind(this);
    this.providers = loaded.providers.map((settings) => new CredentialProvider(settings, deps.clock, run));
  }

  async forImage(image: string, signal: AbortSignal): Promise<AuthConfig[]> {
    const asked = this.providers.filter((provider) => provider.matches(image) && this.canAsk(provider.settings));
    const answers = await Promise.all(asked.map((provider) => this.ask(provider, image, signal)));
    return answers.flat();
  }

  /** Static pods have no service account, and tokens of others are not passed on. */
  private canAsk({ name, tokenAttributes }: CredentialProviderSettings): boolean {
    if (tokenAttributes?.requireServiceAccount !== true) return true;
    if (!this.told.has(name)) {
      this.told.add(name);
      const why = "it requires a service account, and tokens of pods' service accounts are given to no provider yet";
      this.deps.log.warn({ provider: name }, `credential provider ${name} is not asked: ${why}`);
    }
    return false;
  }

  private async ask(provider: CredentialProvider, image: string, signal: AbortSignal): Promise<AuthConfig[]> {
    try {
      return await provider.forImage(image, signal);
    } catch (error) {
      if (!isPluginError(error)) throw error;
      const { name } = provider.settings;
      this.deps.log.error(
        { provider: name, image, err: error },
        `no credentials for image "${image}": ${error.message}`,
      );
      return [];
    }
  }

  private async exec(
    settings: CredentialProviderSettings,
    image: string,
    signal: AbortSignal,
  ): Promise<PluginResponse> {
    const { clock } = this.deps;
    const startedAt = clock.monotonic();
    try {
      return await execPlugin({ binDir: this.loaded.binDir, settings, image, clock, signal });
    } catch (error) {
      if (isPluginError(error)) this.metrics.failed(settings.name);
      throw error;
    } finally {
      this.metrics.ran(settings.name, clock.monotonic() - startedAt);
    }
  }
}
