// One credential provider: which images it is asked about, what it answered and for how long that holds, and one run at a
// time per image however many pods wait for it.
import type { AuthConfig } from "../../../shared/cri/gen/runtime.v1.js";
import type { Clock } from "../../../shared/clock/clock.js";
import { lookUp } from "../keyring/keyring.js";
import { matchesImage } from "../keyring/image-match.js";
import type { CredentialProviderSettings } from "./config.js";
import type { CacheKeyType, PluginResponse } from "./response.js";
import { SharedRuns } from "./shared-runs.js";

export type RunPlugin = (
  settings: CredentialProviderSettings,
  image: string,
  signal: AbortSignal,
) => Promise<PluginResponse>;

interface Kept {
  auths: PluginResponse["auths"];
  until: number;
}

/** Expired answers are dropped this often. */
const PURGE_MS = 15 * 60_000;

export class CredentialProvider {
  private readonly kept = new Map<string, Kept>();
  private readonly runs = new SharedRuns<PluginResponse["auths"]>();
  private purgedAt: number;

  constructor(
    readonly settings: CredentialProviderSettings,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly run: RunPlugin,
  ) {
    this.purgedAt = clock.monotonic();
  }

  matches(image: string): boolean {
    return this.settings.matchImages.some((pattern) => matchesImage(pattern, image));
  }

  /** `image` is registry and repository. Rejects with PluginError, or the signal's reason. */
  async forImage(image: string, signal: AbortSignal): Promise<AuthConfig[]> {
    const known = this.cached(image);
    return lookUp(known ?? (await this.runs.run(image, signal, (shared) => this.ask(image, shared))), image);
  }

  private cached(image: string): PluginResponse["auths"] | undefined {
    const now = this.clock.monotonic();
    this.purge(now);
    for (const type of ["Image", "Registry", "Global"] as const) {
      const found = this.kept.get(keyOf(type, image));
      if (found !== undefined && found.until > now) return found.auths;
    }
    return undefined;
  }

  private async ask(image: string, signal: AbortSignal): Promise<PluginResponse["auths"]> {
    const { auths, cacheKeyType, cacheDurationMs } = await this.run(this.settings, image, signal);
    const durationMs = cacheDurationMs ?? this.settings.defaultCacheDurationMs;
    if (durationMs > 0) {
      this.kept.set(keyOf(cacheKeyType, image), { auths, until: this.clock.monotonic() + durationMs });
    }
    return auths;
  }

  private purge(now: number): void {
    if (now - this.purgedAt < PURGE_MS) return;
    this.purgedAt = now;
    for (const [key, { until }] of this.kept) if (until <= now) this.kept.delete(key);
  }
}

function keyOf(type: CacheKeyType, image: string): string {
  switch (type) {
    case "Image":
      return `image ${image}`;
    case "Registry":
      return `registry ${image.split("/", 1)[0] ?? ""}`;
    case "Global":
      return "global";
  }
}
