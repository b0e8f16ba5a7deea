// The cache key of a plugin's answer, and the key of shared plugin runs. It consists of image, registry or global, and
// of the service account of the token. No key contains a token.

import { createHash } from "crypto";
import type { TokenCacheType } from "./config.js";
import type { PluginQuestion } from "./exec-plugin.js";
import type { PodIdentity } from "./pod-identity.js";
import type { CacheKeyType } from "./response.js";

/** Credentials for another account, other annotations, or (Token) another token have another key. */
export function cacheKey(
  type: CacheKeyType,
  { image, identity }: PluginQuestion,
  cacheType: TokenCacheType | undefined,
): string {
  const whose = identity === undefined ? [] : accountKey(identity, cacheType ?? "Token");
  return JSON.stringify([type, scopeOf(type, image), ...whose]);
}

/** A run is shared by callers with the same request. */
export function runKey({ image, identity }: PluginQuestion): string {
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
