// NodePublishVolume, of file systems and of devices alike: the secrets and attributes in its request.
import type { Pod } from "../../../shared/api/pod.js";
import { isPluginCallError } from "../../../shared/plugins/call-error.js";
import { removeEmpty } from "../remove-tree.js";
import { type CsiContext, readSecret } from "./context.js";
import type { CsiVolume } from "./csi-volume.js";
import type { DeviceInHand } from "./with-device.js";
import type { ClusterObjects } from "../../model/cluster-access.js";
import type { DriverSpec } from "./driver-objects.js";
import { apiTime } from "../../../shared/api/time.js";

export interface PublishRequest {
  pod: Pod;
  volume: CsiVolume;
  capability: Parameters<DeviceInHand["node"]["publish"]>[0]["volumeCapability"];
  /** "": it is not staged. */
  staged: string;
  target: string;
  signal: AbortSignal;
  /** For a target where nothing was published before: removes the empty directory that a failed driver left. */
  first: boolean;
}

/** Rejects as the driver's call does, and with what reading secrets and tokens does. */
export async function publish(
  context: CsiContext,
  { spec, node, publishContext }: Pick<DeviceInHand, "spec" | "node" | "publishContext">,
  { pod, volume, capability, staged, target, signal, first }: PublishRequest,
): Promise<void> {
  const { client, tokens } = context.joined();
  const [secrets, added] = await Promise.all([
    readSecret(client, volume.publishSecret, signal),
    nodePublishContext(spec, pod, volume, tokens, signal),
  ]);
  try {
    await node.publish(
      {
        volumeId: volume.handle,
        publishContext,
        stagingTargetPath: staged,
        targetPath: target,
        volumeCapability: capability,
        readonly: volume.readOnly,
        secrets: { ...secrets, ...added.secrets },
        volumeContext: { ...volume.attributes, ...added.context },
      },
      signal,
    );
  } catch (error) {
    if (first && isPluginCallError(error) && !error.uncertain) await removeEmpty(target).catch(() => undefined);
    throw error;
  }
}

// The pod attributes that NodePublishVolume passes to a driver whose CSIDriver object requests them.

const PREFIX = "csi.storage.k8s.io";
const TOKENS_KEY = `${PREFIX}/serviceAccount.tokens`;

interface PublishContext {
  /** On top of the volume's own attributes. */
  context: Record<string, string>;
  /** On top of the publish secret. */
  secrets: Record<string, string>;
}

/** @throws the error of the token request */
async function nodePublishContext(
  driver: DriverSpec | undefined,
  pod: Pod,
  volume: CsiVolume,
  tokens: ClusterObjects["tokens"],
  signal: AbortSignal,
): Promise<PublishContext> {
  const context = driver?.podInfoOnMount === true ? podInfo(pod, volume) : {};
  const wanted = driver?.tokenRequests ?? [];
  if (wanted.length === 0) return { context, secrets: {} };
  const issued = await Promise.all(
    wanted.map(async ({ audience, expirationSeconds }) => {
      const request = {
        pod,
        ...(audience === "" ? {} : { audience }),
        ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
      };
      const { token, expiresAt } = await tokens.get(request, signal);
      const expirationTimestamp = apiTime(expiresAt);
      return [audience, { token, expirationTimestamp }] as const;
    }),
  );
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
