// DNS and addresses of pods, and iptables.

import { isIP } from "net";
import type { ConfigReader } from "./reader.js";

export type NetworkSettings = Readonly<ReturnType<typeof networkSettings>>;

export function networkSettings(read: ConfigReader) {
  return {
    /** Only addresses; a warning names the other entries. */
    clusterDNS: read.texts("clusterDNS").filter((address) => isIP(address) !== 0),
    clusterDomain: read.text("clusterDomain"),
    /** "": the runtime has its own. Only for a stand-alone node. */
    podCIDR: read.text("podCIDR"),
    /** "": pods get no resolver configuration of the host. */
    resolvConf: read.text("resolvConf"),
    makeIPTablesUtilChains: read.bool("makeIPTablesUtilChains"),
  };
}
