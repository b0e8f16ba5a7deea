// Fibre Channel volumes on a stand-alone node. Loaded with the first of them.

import { lazily } from "../../../shared/base/turns/lazily.js";
import { standaloneDisks } from "../disks/standalone.js";
import type { VolumePlugin } from "../plugin.js";
import type { VolumeManagerOptions } from "../volume-manager-options.js";
import { fcPlugin, fcVolumes } from "./plugin.js";

export async function standaloneFcPlugin(options: VolumeManagerOptions): Promise<VolumePlugin> {
  const disks = lazily(() => fcVolumes(standaloneDisks(options)));
  await disks();
  return fcPlugin(disks);
}
