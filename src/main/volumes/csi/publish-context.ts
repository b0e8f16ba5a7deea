// The pod attributes that NodePublishVolume passes to a driver whose CSIDriver object requests them.

import { mapAtMost } from "../../../shared/base/turns/map-at-most.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import type { ClusterObjects } from "../../model/cluster-access.js";
import type { CsiVolume } from "./csi-volume.js";
import type { DriverSpec } from "./driver-objects.js";

const PREFIX = "csi.storage.k8s.io";
/** A driver's object may ask for thousands. */
const REQUESTS_AT_ONCE = 8;
const TOKENS_KEY = `${PREFIX}/serviceAccount.tokens`;

interface PublishContext {
  /** On top of the volume's own attributes. */
  context: Record<string, string>;
  /** On top of the publish secret. */
  secrets: Record<string, string>;
}

/** @throws the error of the token request */
export async function nodePublishContext(
  driver: DriverSpec | undefined,
  pod: Pod,
  volume: CsiVolume,
  tokens: ClusterObjects["tokens"],
  signal: AbortSignal,
): Promise<PublishContext> {
  const context = driver?.podInfoOnMount === true ? podInfo(pod, volume) : {};
  const wanted = driver?.tokenRequests ?? [];
  if (wanted.length === 0) return { context, secrets: {} };
  const issued = await mapAtMost(REQUESTS_AT_ONCE, wanted, async ({ audience, expirationSeconds }) => {
    const request = { pod, audience: audience || undefined, expirationSeconds };
    const { token, expiresAt } = await tokens.get(request, signal);
    const expirationTimestamp = apiTime(expiresAt);
    return [audience, { token, expirationTimestamp }] as const;
  });
  const words = { [TOKENS_KEY]: JSON.stringify(Object.fromEntries(issued)) };
  return driver?.serviceAccountTokenInSecrets === true
    ? { context, secrets: words }
    : { context: { ...context, ...words }, secrets: {} };
}

function podInfo(pod: Pod, volume: CsiVolume): Record<string, string> {
  return {
    [`${PREFIX}/pod.name`]: pod.metadata.name,
    [`${PREFIX}/pod.namespace`]: pod.metadata.namespace,
    [`${PREFIX}/pod.uid`]: pod.metadata.uid,
    [`${PREFIX}/serviceAccount.name`]: pod.spec.serviceAccountName ?? "",
    [`${PREFIX}/ephemeral`]: String(volume.lifecycle === "Ephemeral"),
  };
}
