// Pods in a CNI network. The configuration is read for every pod: a network may be installed while the kubelet runs.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import type { DockershimNetwork } from "../../../shared/contracts/dockershim.js";
import type { PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { Fault } from "../fault.js";
import { CniCache } from "./cni-cache.js";
import { loadNetwork } from "./cni-config.js";
import { addressesOf, runPlugin, type Attachment } from "./cni-plugin.js";
import type { PodInNetwork, PodNetwork } from "./pod-network.js";

export class CniNetwork implements PodNetwork {
  readonly dockerNetwork = "none";
  private readonly cache: CniCache;
  private readonly turns = new KeyedSerializer();
  private podCidr = "";

  constructor(
    private readonly network: Extract<DockershimNetwork, { plugin: "cni" }>,
    private readonly deps: { clock: Clock; log: Logger },
  ) {
    this.cache = new CniCache(network.cacheDir);
  }

  async problem(): Promise<string | undefined> {
    try {
      await loadNetwork(this.network.confDir);
      return undefined;
    } catch (error) {
      return `cni config uninitialized: ${messageOf(error)}`;
    }
  }

  setPodCidr(cidr: string): void {
    this.podCidr = cidr;
  }

  setUp(pod: PodInNetwork, config: PodSandboxConfig, signal: AbortSignal): Promise<string[]> {
    return this.turns.run(pod.sandboxId, async () => {
      const network = await loadNetwork(this.network.confDir);
      const attachment = this.attachment(pod, config);
      let result: unknown;
      for (const plugin of network.plugins) {
        result = await runPlugin(
          { command: "ADD", network, plugin, attachment, prevResult: result },
          this.pluginDeps,
          signal,
        );
      }
      const addresses = addressesOf(result);
      if (addresses.length === 0)
        throw new Fault("UNKNOWN", `network ${network.name}: the plugins gave the pod no address`);
      await this.cache.write(network, attachment, result);
      return addresses;
    });
  }

  tearDown(pod: PodInNetwork, signal: AbortSignal): Promise<void> {
    return this.turns.run(pod.sandboxId, async () => {
      const present = await loadNetwork(this.network.confDir);
      const cached = await this.cache.read(present.name, pod.sandboxId);
      const network = cached?.network ?? present;
      const own = this.attachment(pod);
      const attachment = { ...own, capabilities: cached?.capabilities ?? own.capabilities };
      for (const plugin of [...network.plugins].reverse()) {
        await runPlugin(
          { command: "DEL", network, plugin, attachment, prevResult: cached?.result },
          this.pluginDeps,
          signal,
        );
      }
      await this.cache.remove(network.name, pod.sandboxId);
    });
  }

  private get pluginDeps() {
    return { binDirs: this.network.binDirs, clock: this.deps.clock };
  }

  private attachment({ sandboxId, metadata, pid, ports }: PodInNetwork, config?: PodSandboxConfig): Attachment {
    const dns = config?.dnsConfig;
    return {
      containerId: sandboxId,
      netns: pid === 0 ? "" : `/proc/${pid}/ns/net`,
      args: [
        "IgnoreUnknown=1",
        `K8S_POD_NAMESPACE=${metadata.namespace}`,
        `K8S_POD_NAME=${metadata.name}`,
        `K8S_POD_INFRA_CONTAINER_ID=${sandboxId}`,
        `K8S_POD_UID=${metadata.uid}`,
      ].join(";"),
      capabilities: omitUndefined({
        portMappings: ports.map(({ protocol, container_port, host_port, host_ip }) =>
          omitUndefined({
            hostPort: host_port,
            containerPort: container_port,
            protocol,
            hostIP: host_ip !== "" ? host_ip : undefined,
          }),
        ),
        ipRanges:
          this.podCidr !== "" ? this.podCidr.split(",").map((subnet) => [{ subnet: subnet.trim() }]) : undefined,
        dns: dns ? { servers: dns.servers, searches: dns.searches, options: dns.options } : undefined,
      }),
    };
  }
}
