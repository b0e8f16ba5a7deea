// Secrets that a volume names for its driver. Read for the call and not kept.

import { SECRETS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { SecretRef } from "../../../shared/kubernetes/api/objects.js";
import { VolumeError } from "../volume-error.js";

/** Empty without a reference. @throws VolumeError, ApiError, ApiConnectionError */
export async function readSecret(
  client: ApiClient,
  ref: SecretRef | undefined,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (ref === undefined) return {};
  const { name, namespace } = ref;
  if (name === undefined || namespace === undefined || name === "" || namespace === "") {
    throw new VolumeError("the volume's secret reference lacks a name or a namespace");
  }
  const secret = await client.get(SECRETS, { name, namespace }, { signal });
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}
