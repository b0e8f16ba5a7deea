// One credential provider: the images it matches, its cached credentials, and its runs. One run at a time per image
// (and token) serves all waiting pods.
// Invariant: credentials for one service account are used for no pod of another.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { SharedRuns } from "../../../../shared/base/turns/shared-runs.js";
import type { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { matchesImage } from "../keyring/image-match.js";
import { lookUp } from "../keyring/look-up.js";
import { runKey, cacheKey } from "./cache-key.js";
import type { CredentialProviderSettings } from "./config.js";
import type { PluginQuestion } from "./exec-plugin.js";
import { CACHE_KEY_TYPES, PluginError, type CacheKeyType, type PluginResponse } from "./response.js";

export type RunPlugin = (
  settings: CredentialProviderSettings,
  question: PluginQuestion,
  signal: AbortSignal,
) => Promise<PluginResponse>;

interface Kept {
  auths: PluginResponse["auths"];
  until: number;
}

/** Interval between two removals of expired credentials. */
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

  /** Rejects with PluginError, or the signal's reason. */
  async credentials(question: PluginQuestion, signal: AbortSignal): Promise<AuthConfig[]> {
    const known = this.cached(question);
    const ask = (shared: AbortSignal) => this.ask(question, shared);
    return lookUp(known ?? (await this.runs.run(runKey(question), signal, ask)), question.image);
  }

  private cached(question: PluginQuestion): PluginResponse["auths"] | undefined {
    const now = this.clock.monotonic();
    this.purge(now);
    for (const type of CACHE_KEY_TYPES) {
      const found = this.kept.get(this.keyOf(type, question));
      if (found !== undefined && found.until > now) return found.auths;
    }
    return undefined;
  }

  private async ask(question: PluginQuestion, signal: AbortSignal): Promise<PluginResponse["auths"]> {
    const { auths, cacheKeyType, cacheDurationMs } = await this.run(this.settings, question, signal);
    this.refuseEcho(question, auths);
    const durationMs = cacheDurationMs ?? this.settings.defaultCacheDurationMs;
    if (durationMs > 0) {
      this.kept.set(this.keyOf(cacheKeyType, question), { auths, until: this.clock.monotonic() + durationMs });
    }
    return auths;
  }

  /** A token is one pod's; kept by its account it would serve others, and outlive the pod. */
  private refuseEcho({ identity }: PluginQuestion, auths: PluginResponse["auths"]): void {
    const { name, tokenAttributes } = this.settings;
    if (identity === undefined || tokenAttributes?.cacheType === "Token") return;
    if ([...auths.values()].some(({ password }) => password === identity.token)) {
      throw new PluginError(name, "returned the pod's token as a password, which requires cacheType Token");
    }
  }

  private keyOf(type: CacheKeyType, question: PluginQuestion): string {
    return cacheKey(type, question, this.settings.tokenAttributes?.cacheType);
  }

  private purge(now: number): void {
    if (now - this.purgedAt < PURGE_MS) return;
    this.purgedAt = now;
    for (const [key, { until }] of this.kept) if (until <= now) this.kept.delete(key);
  }
}
