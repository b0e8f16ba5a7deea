// Registration of a CSI driver: NodeGetInfo, the entry in the cluster, and from then on use for volumes.
// Invariant: a driver with a working socket can be used, even while the API server is away. It is reported as
// registered only after the CSINode object has its entry.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import { NODES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { type PluginHandler, type PluginInfo } from "../../model/plugin-handler.js";
import { PluginRefusedError, requireDriverName } from "../../model/plugin-refused.js";
import type { DriverSpec } from "../../volumes/csi/driver-objects.js";
import type { CsiDrivers } from "../../volumes/csi/drivers.js";
import type { CsiNode, CsiNodeInfo } from "../../volumes/csi/node-port.js";
import { nodePatch, nodePatchWithout } from "./csi-node-entries.js";
import type { CsiNodeObject } from "./csi-node-object.js";
import { bestVersion, parseVersion, compareVersions } from "./csi-version.js";

/** Shortest period for refreshing a driver's volume limit (API validation). */
const SHORTEST_PERIOD_S = 10;

export interface CsiHandlerOptions {
  nodeName: string;
  drivers: CsiDrivers;
  csiNode: CsiNodeObject;
  client: ApiClient;
  connect(driver: string, endpoint: string): CsiNode;
  /** The driver's CSIDriver object. */
  driverSpec(driver: string): Promise<DriverSpec | undefined>;
  clock: Clock;
  log: Logger;
}

export class CsiHandler implements PluginHandler {
  private readonly refreshes = new Map<string, Loop>();

  constructor(private readonly options: CsiHandlerOptions) {}

  /** @throws PluginRefusedError */
  validate({ name, endpoint, versions }: PluginInfo): void {
    requireDriverName("CSI", name);
    const version = bestVersion(name, versions);
    const other = this.options.drivers.find(name);
    if (other === undefined || other.endpoint === endpoint) return;
    const [mine, theirs] = [parseVersion(version) ?? [], parseVersion(other.version) ?? []];
    if (compareVersions(theirs, mine) < 0) return;
    throw new PluginRefusedError(
      `CSI driver ${name} (version ${version}) is registered already, with version ${other.version} at ${other.endpoint}`,
    );
  }

  async register({ name, endpoint, versions }: PluginInfo, signal: AbortSignal): Promise<void> {
    const { drivers, csiNode } = this.options;
    const known = drivers.find(name);
    // At another try its calls go on.
    const node = known?.endpoint === endpoint ? known.node : this.options.connect(name, endpoint);
    let info: CsiNodeInfo;
    try {
      info = await node.info(signal);
      if (info.nodeId === "") throw new PluginRefusedError(`CSI driver ${name} gave no node_id in NodeGetInfo`);
    } catch (error) {
      if (node !== known?.node) node.close();
      throw error;
    }
    drivers.add({ name, endpoint, version: bestVersion(name, versions), node });
    await this.patchNode((object) => nodePatch(object, name, info), signal);
    await csiNode.addDriver(name, info, signal);
    await this.keepFresh(name, node);
  }

  async deregister({ name, endpoint }: PluginInfo, signal: AbortSignal): Promise<void> {
    const { drivers, csiNode } = this.options;
    if (!drivers.remove(name, endpoint)) return;
    this.endRefreshes(name);
    await csiNode.removeDriver(name, signal);
    await this.patchNode((object) => nodePatchWithout(object, name), signal);
  }

  stop(): void {
    for (const name of [...this.refreshes.keys()]) this.endRefreshes(name);
  }

  private async patchNode(patchFor: (node: Node) => object | undefined, signal: AbortSignal): Promise<void> {
    const patch = patchFor(await this.readNode(signal));
    if (patch === undefined) return;
    const { client, nodeName: name } = this.options;
    await client.patch(NODES, { name }, patch, { type: "merge", signal });
  }

  private readNode(signal: AbortSignal): Promise<Node> {
    const { client, nodeName: name } = this.options;
    return client.get(NODES, { name }, { signal });
  }

  /** Refreshes the volume limit of the node if the CSIDriver object sets nodeAllocatableUpdatePeriodSeconds. */
  private async keepFresh(name: string, node: CsiNode): Promise<void> {
    const { clock, drivers, csiNode, log } = this.options;
    this.endRefreshes(name);
    // A driver works without a CSIDriver object, and without this field.
    const spec = await this.options.driverSpec(name).catch(() => undefined);
    const seconds = spec?.nodeAllocatableUpdatePeriodSeconds;
    if (seconds === undefined || drivers.find(name)?.node !== node) return;
    const periodMs = Math.max(seconds, SHORTEST_PERIOD_S) * 1000;
    const refreshes = new Loop({
      clock,
      periodMs,
      round: async (signal) => {
        await csiNode.addDriver(name, await node.info(signal), signal);
        return undefined;
      },
      failed: (error) => {
        log.warn({ err: error, driver: name }, `cannot update the volume limit of CSI driver ${name}; trying again`);
        return undefined;
      },
    });
    this.refreshes.set(name, refreshes);
    refreshes.start(periodMs);
  }

  /** A call under way is aborted. */
  private endRefreshes(name: string): void {
    void this.refreshes.get(name)?.stop();
    this.refreshes.delete(name);
  }
}
