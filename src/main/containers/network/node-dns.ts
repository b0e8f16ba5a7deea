// The node's resolver settings for pods. The host's file is parsed again only when it changed.

import { stat } from "node:fs/promises";
import { readRegularText } from "../../../shared/io/fs/regular-file.js";
import { RESOLV_CONF_LIMIT } from "../../../shared/io/net/pod-lookups.js";
import type { NodeDns } from "./pod-dns.js";
import { parseResolvConf } from "./resolv-conf.js";

export interface NodeDnsDeps {
  /** `resolvConf`: path of the host's file; "": none. */
  settings: Pick<NodeDns, "clusterDNS" | "clusterDomain"> & { readonly resolvConf: string };
  inCluster: boolean;
  /** As they are now, the primary first. */
  nodeIPs: () => readonly string[];
}

export function makeNodeDns({ settings, inCluster, nodeIPs }: NodeDnsDeps): () => Promise<NodeDns> {
  const { clusterDNS, clusterDomain, resolvConf } = settings;
  let cached: { version: string; host: NodeDns["host"] } | undefined;
  return async () => {
    const known = { inCluster, clusterDNS, clusterDomain, nodeIPs: nodeIPs() };
    if (resolvConf === "") return { ...known, host: undefined };
    const { mtimeMs, size, ino } = await stat(resolvConf);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (cached?.version !== version) {
      cached = { version, host: parseResolvConf(await readRegularText(resolvConf, RESOLV_CONF_LIMIT)) };
    }
    return { ...known, host: cached.host };
  };
}
