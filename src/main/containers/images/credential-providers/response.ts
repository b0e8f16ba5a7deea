// The response of a plugin, a CredentialProviderResponse, validated.
// Invariant: no message contains a part of the credentials.

import { foldedMember } from "../../../../shared/base/text/folded-member.js";
import { isRecord } from "../../../../shared/base/text/is-record.js";
import { parseJson } from "../../../../shared/base/text/parse-json.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { parseDuration } from "../../../command/duration.js";

export type CacheKeyType = "Image" | "Registry" | "Global";

export interface PluginResponse {
  cacheKeyType: CacheKeyType;
  /** undefined: the configured default; 0 or less: not kept. */
  cacheDurationMs: number | undefined;
  /** By pattern of images. */
  auths: ReadonlyMap<string, AuthConfig>;
}

/** The plugin failed, or its response can't be used. */
export class PluginError extends Error {
  override readonly name = "PluginError";
  constructor(
    readonly plugin: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`credential provider ${plugin}: ${why}`, options);
  }
}

const KIND = "CredentialProviderResponse";
/** From the narrowest to the widest. */
export const CACHE_KEY_TYPES: readonly CacheKeyType[] = ["Image", "Registry", "Global"];

/** "1h1h…" is a duration, too: one that is longer than that is none. */
const LONGEST_DURATION = 256;

function durationOf(text: string): number | undefined {
  return text.length > LONGEST_DURATION ? undefined : parseDuration(text);
}

/** Throws PluginError. */
export function readResponse(text: string, plugin: string, apiVersion: string): PluginResponse {
  const refuse = (why: string): PluginError => new PluginError(plugin, `its response ${why}`);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw refuse("is not JSON");
  }
  if (!isRecord(value)) throw refuse("is not a JSON object");
  // Go reads these two in any case.
  const [kind, version] = [foldedMember(value, "kind"), foldedMember(value, "apiVersion")];
  if (kind !== KIND) throw refuse(`is not of kind ${KIND}`);
  if (version !== apiVersion) throw refuse(`is not of ${apiVersion}, the version of the request`);
  const cacheKeyType = CACHE_KEY_TYPES.find((type) => type === value["cacheKeyType"]);
  if (cacheKeyType === undefined) throw refuse(`has a cacheKeyType that is not one of ${CACHE_KEY_TYPES.join(", ")}`);
  const duration = value["cacheDuration"] ?? undefined;
  const cacheDurationMs = typeof duration === "string" ? durationOf(duration) : undefined;
  if (duration !== undefined && cacheDurationMs === undefined) {
    throw refuse("has a cacheDuration that is not a duration");
  }
  const auth = value["auth"] ?? {};
  if (!isRecord(auth)) throw refuse('has an "auth" that is not an object');
  const auths = new Map<string, AuthConfig>();
  for (const [pattern, entry] of Object.entries(auth)) {
    const given = entry ?? {};
    const [username, password] = isRecord(given)
      ? [given["username"] ?? "", given["password"] ?? ""]
      : [undefined, undefined];
    if (typeof username !== "string" || typeof password !== "string") {
      throw refuse(`has no username and password for ${quote(pattern)}`);
    }
    auths.set(pattern, AuthConfig.fromPartial({ username, password }));
  }
  return { cacheKeyType, cacheDurationMs, auths };
}
