// One credential provider: the images it matches, its cached credentials, and its runs. One run at a time per image (and token) serves all
// waiting pods.
// Invariant: credentials for one service account are used for no pod of another.
import { createHash } from "node:crypto";
import type { AuthConfig } from "../../../shared/cri/gen/runtime.v1.js";
import type { Clock } from "../../../shared/clock/clock.js";
import { matchesImage, lookUp } from "../keyring/image-match.js";
import type { CredentialProviderSettings, TokenCacheType } from "./config.js";
import { CACHE_KEY_TYPES, PluginError, type CacheKeyType, type PluginResponse, readResponse } from "./response.js";
import type { PodIdentity } from "./pod-identity.js";
import { abortReason } from "../../../shared/errors/thrown.js";
import { join } from "node:path";
import { isProgramFailedError, runProgram } from "../../../shared/exec/run-program.js";

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

// The cache key of a plugin's answer, and the key of shared plugin runs. It consists of image, registry or global, and of the service
// account of the token. No key contains a token.

/** Credentials for another account, other annotations, or (Token) another token have another key. @internal */
export function cacheKey(
  type: CacheKeyType,
  { image, identity }: PluginQuestion,
  cacheType: TokenCacheType | undefined,
): string {
  const whose = identity === undefined ? [] : accountKey(identity, cacheType ?? "Token");
  return JSON.stringify([type, scopeOf(type, image), ...whose]);
}

/** A run is shared by callers with the same request. */
function runKey({ image, identity }: PluginQuestion): string {
  return JSON.stringify([image, ...(identity === undefined ? [] : accountKey(identity, "Token"))]);
}

function accountKey({ account, annotations, token }: PodIdentity, cacheType: TokenCacheType): unknown[] {
  const { namespace, name, uid } = account;
  const sorted = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = [namespace, name, uid, sorted];
  return cacheType === "Token" ? [...key, createHash("sha256").update(token).digest("hex")] : key;
}

function scopeOf(type: CacheKeyType, image: string): string {
  switch (type) {
    case "Image":
      return image;
    case "Registry":
      return image.split("/", 1)[0] ?? "";
    case "Global":
      return "";
  }
}

// One run of work shared by several callers. The run is aborted only when its last caller gives up.

interface SharedRun<T> {
  result: Promise<T>;
  controller: AbortController;
  waiters: number;
}

class SharedRuns<T> {
  private readonly runs = new Map<string, SharedRun<T>>();

  /** Rejects with the work's error, or at once with the signal's reason. */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const shared = this.runs.get(key) ?? this.begin(key, work);
    shared.waiters++;
    try {
      return await untilAborted(shared.result, signal);
    } finally {
      shared.waiters--;
      if (shared.waiters === 0) {
        this.forget(key, shared);
        shared.controller.abort(new Error("no pull waits for it any more"));
      }
    }
  }

  private begin(key: string, work: (signal: AbortSignal) => Promise<T>): SharedRun<T> {
    const controller = new AbortController();
    const run: SharedRun<T> = { result: work(controller.signal), controller, waiters: 0 };
    this.runs.set(key, run);
    // Each caller handles the failure; without callers the rejection is ignored.
    run.result.then(
      () => this.forget(key, run),
      () => this.forget(key, run),
    );
    return run;
  }

  private forget(key: string, run: SharedRun<T>): void {
    if (this.runs.get(key) === run) this.runs.delete(key);
  }
}

function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

// One run of a credential provider plugin: the request on its standard input, the response on its standard output.

/** The request to a plugin. */
export interface PluginQuestion {
  /** Registry and repository: "docker.io/library/busybox". */
  image: string;
  /** Present: the request names the pod's service account. */
  identity?: PodIdentity | undefined;
}

interface PluginRun {
  binDir: string;
  settings: CredentialProviderSettings;
  question: PluginQuestion;
  clock: Clock;
  signal: AbortSignal;
}

/** Rejects with PluginError, or the signal's reason. */
export async function execPlugin({ binDir, settings, question, clock, signal }: PluginRun): Promise<PluginResponse> {
  const { name, apiVersion, args, env } = settings;
  const run = { command: join(binDir, name), args, env, input: requestText(apiVersion, question), clock, signal };
  try {
    return readResponse(await runProgram(run), name, apiVersion);
  } catch (error) {
    throw isProgramFailedError(error) ? new PluginError(name, error.message, { cause: error }) : error;
  }
}

function requestText(apiVersion: string, { image, identity }: PluginQuestion): string {
  const { token, annotations = {} } = identity ?? {};
  return JSON.stringify({
    kind: "CredentialProviderRequest",
    apiVersion,
    image,
    ...(token !== undefined && { serviceAccountToken: token }),
    ...(Object.keys(annotations).length > 0 && { serviceAccountAnnotations: annotations }),
  });
}
