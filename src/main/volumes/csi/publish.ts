// NodePublishVolume, of file systems and of devices alike: the secrets and attributes in its request.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { PluginCallError } from "../../../shared/kubernetes/plugins/call-error.js";
import { removeEmpty } from "../remove-tree.js";
import { type CsiContext } from "./context.js";
import type { CsiVolume } from "./csi-volume.js";
import { nodePublishContext } from "./publish-context.js";
import { readSecret } from "./read-secret.js";
import type { DeviceInHand } from "./with-device.js";

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
    if (first && error instanceof PluginCallError && !error.uncertain) await removeEmpty(target).catch(() => undefined);
    throw error;
  }
}
