// The settings of a running node: flags and configuration, completed by facts of the machine.

import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { defaultRouteInterface, nodeIPs } from "../../shared/io/net/host-addresses.js";
import type { Settings } from "../command/settings.js";
import { readMachine } from "../node/machine.js";

export interface NodeSettings extends Settings {
  readonly nodeName: string;
  /** /var/log/containers: links to the containers' logs. */
  readonly containerLogsDir: string;
  readonly memoryBytes: bigint;
  readonly cpuCount: number;
}

export async function nodeSettingsOf(
  settings: Settings,
  name: string,
  containerLogsDir: string,
): Promise<NodeSettings> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const machine = readMachine();
  return {
    ...settings,
    nodeName: name,
    // The Node's addresses replace these once the kubelet has read the Node (HostIPs).
    nodeIPs: nodeIPs(settings.nodeIPs, networkInterfaces(), defaultRouteInterface(routes)),
    containerLogsDir,
    memoryBytes: BigInt(machine.memoryBytes),
    cpuCount: machine.cpus,
  };
}
