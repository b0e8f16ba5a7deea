// The node's resolver settings as pods get them.
import { readFile, stat } from "node:fs/promises";
import type { NodeDns } from "../network/pod-dns.js";
import { parseResolvConf } from "../network/resolv-conf.js";
import type { HostIPs } from "../status/host-ips.js";
import type { NodeSettings } from "./node-settings.js";

/** The node's resolver settings; the host's file is parsed again only when it changed. */
export function nodeDns(
  settings: Pick<NodeSettings, "clusterDNS" | "clusterDomain" | "resolvConf">,
  hostIPs: Pick<HostIPs, "current">,
): () => Promise<NodeDns> {
  const { clusterDNS, clusterDomain, resolvConf } = settings;
  let cached: { version: string; host: NodeDns["host"] } | undefined;
  return async () => {
    const nodeIPs = hostIPs.current;
    if (resolvConf === "") return { clusterDNS, clusterDomain, nodeIPs, host: undefined };
    const { mtimeMs, size, ino } = await stat(resolvConf);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (cached?.version !== version) {
      cached = { version, host: parseResolvConf(await readFile(resolvConf, "utf8")) };
    }
    return { clusterDNS, clusterDomain, nodeIPs, host: cached.host };
  };
}
