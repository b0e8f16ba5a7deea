// DNS and addresses of pods, and iptables.

import { plainIP } from "../plain-ip.js";
import type { ConfigReader } from "./reader.js";

export type NetworkSettings = Readonly<ReturnType<typeof networkSettings>>;

export function networkSettings(read: ConfigReader) {
  return {
    /** Only addresses; a warning names the other entries. */
    clusterDNS: read.texts("clusterDNS").flatMap((address) => plainIP(address) ?? []),
    clusterDomain: read.text("clusterDomain"),
    /** "": the runtime has its own. Only for a stand-alone node. */
    podCIDR: read.text("podCIDR"),
    /** "": pods get no resolver configuration of the host. */
    resolvConf: read.text("resolvConf"),
    makeIPTablesUtilChains: read.bool("makeIPTablesUtilChains"),
  };
}
