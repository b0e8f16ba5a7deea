// What the plan does to parts that only some nodes have: drivers, disks, registries, objects of users, logind. A node
// without the part ignores it.

import type { ClaimChange, ClaimGrowth } from "./claim-growth.js";
import type { ConfigChange, ConfigObjects } from "./config-objects.js";
import type { CsiFault, CsiPlugin } from "./csi-plugin.js";
import type { HealthChange } from "./device-health.js";
import type { DevicePlugin, PluginFault } from "./device-plugin.js";
import type { DiskFault, DiskUse } from "./disk-use.js";
import type { DraFault, DraPlugin } from "./dra-plugin.js";
import type { ImageLayers, PullCut } from "./image-layers.js";
import type { LogReaders, ReaderAction } from "./log-readers.js";
import { armCompression, type CompressionFault } from "./log-tasks.js";
import type { MemoryFault, MemoryUse } from "./memory-use.js";
import type { MapChange } from "./own-api-maps.js";
import type { ApiReaderAction } from "./own-api-readers.js";
import type { OwnApiUsers } from "./own-api-users.js";
import type { ProcessFault, ProcessUse } from "./process-use.js";
import type { PrivateRegistries, RegistryFault } from "./registry.js";
import type { AccountFault, ServiceAccounts } from "./service-accounts.js";
import type { ShutdownFault, Shutdowns } from "./shutdowns.js";
import type { StreamClients } from "./stream-clients.js";
import type { StreamAction } from "./stream-session.js";

interface Parts {
  plugin: DevicePlugin | undefined;
  csi: CsiPlugin | undefined;
  growth: ClaimGrowth | undefined;
  dra: { driver: DraPlugin } | undefined;
  configs: ConfigObjects | undefined;
  registries: PrivateRegistries | undefined;
  accounts: ServiceAccounts | undefined;
  own: OwnApiUsers | undefined;
  memory: MemoryUse | undefined;
  disks: DiskUse | undefined;
  processes: ProcessUse | undefined;
  shutdowns: Shutdowns | undefined;
  readers: LogReaders | undefined;
  layers: ImageLayers | undefined;
  streams: StreamClients | undefined;
  /** SIGKILL of the kubelet. */
  kill(downMs: number): void;
}

/** ms; absent: it is no fault, or its part notes that by itself. */
export interface Effect {
  disturbsMs?: number;
  /** Something was short, and nothing else. */
  shortMs?: number;
}

/** An action on such a part. */
export type PartAction =
  | PluginFault
  | CsiFault
  | DraFault
  | ClaimChange
  | ConfigChange
  | HealthChange
  | RegistryFault
  | AccountFault
  | CompressionFault
  | ReaderAction
  | PullCut
  | StreamAction
  | MapChange
  | ApiReaderAction
  | MemoryFault
  | DiskFault
  | ProcessFault
  | ShutdownFault;

/** What other promises have to excuse for it. */
export function performPart(parts: Parts, action: PartAction): Effect {
  switch (action.do) {
    case "plugin-dies":
    case "plugin-slow":
    case "device-sick":
      parts.plugin?.perform(action);
      return { disturbsMs: action.ms };
    case "csi-away":
    case "csi-slow":
    case "csi-fails":
      parts.csi?.perform(action);
      return { disturbsMs: action.ms };
    case "dra-away":
    case "dra-leaves":
    case "dra-slow":
    case "dra-fails":
      parts.dra?.driver.perform(action);
      return { disturbsMs: action.ms };
    case "config-changes":
    case "config-removed":
      parts.configs?.perform(action);
      return {};
    case "claim-grows":
      parts.growth?.perform(action);
      return {};
    case "health-changes":
    case "health-quiet":
    case "health-streams-end":
      parts.dra?.driver.healths?.perform(action);
      return {};
    case "provider-fails":
    case "provider-slow":
    case "passwords-change":
      parts.registries?.perform(action);
      return "ms" in action ? { disturbsMs: action.ms } : {};
    case "login-fails":
    case "login-slow":
    case "account-passwords-change":
    case "account-made-anew":
      parts.accounts?.perform(action);
      return "ms" in action ? { disturbsMs: action.ms } : {};
    case "map-set":
    case "map-removed":
    case "file-edited":
      parts.own?.maps.perform(action);
      return {};
    case "objects-followed":
    case "followers-cut":
    case "viewers-named":
    case "map-filled":
      parts.own?.readers?.perform(action);
      return {};
    case "pull-cut":
      parts.layers?.perform(action);
      return {};
    case "compression-killed":
      armCompression(action.calls, () => parts.kill(action.downMs));
      return {};
    case "log-read":
    case "node-asked":
      parts.readers?.perform(action);
      return {};
    case "stream-opened":
      parts.streams?.perform(action);
      return {};
    case "memory-short":
      parts.memory?.perform(action);
      return { shortMs: action.ms };
    case "disk-short":
    case "disk-full":
      parts.disks?.perform(action);
      return { shortMs: action.ms };
    case "images-pulled":
      parts.disks?.perform(action);
      return {};
    case "pids-short":
      parts.processes?.perform(action);
      return { shortMs: action.ms };
    case "shutdown":
    case "bus-away":
    case "bus-slow":
    case "locks-refused":
    case "lock-lost":
    case "logind-restarts":
      parts.shutdowns?.perform(action);
      return "ms" in action ? { disturbsMs: action.ms } : {};
  }
}
