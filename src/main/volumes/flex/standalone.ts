// flexVolumes on a stand-alone node: no controller attaches, and no API server has secrets. Loaded with the first such
// volume.

import { NodeAttachments } from "../attachments/node-attachments.js";
import type { VolumePlugin } from "../plugin.js";
import type { VolumeManagerOptions } from "../volume-manager-options.js";
import { FlexVolumes } from "./flex-volumes.js";
import { flexVolumePlugin } from "./plugin.js";

export async function standaloneFlexPlugin(options: VolumeManagerOptions): Promise<VolumePlugin> {
  const { rootDir, volumePluginDir: pluginDir, nodeName, clock, log } = options;
  const attachments = new NodeAttachments({ nodeName, clock, controllerAttaches: false, onInUse: () => undefined });
  const flex = new FlexVolumes({ rootDir, pluginDir, attachments, ownership: options, log });
  await flex.recover();
  return flexVolumePlugin(() => Promise.resolve(flex));
}
