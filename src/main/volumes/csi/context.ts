// The collaborators that all parts of the CSI code share, and the secrets of a volume for its driver.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { KeyedSerializer } from "../../../shared/base/turns/keyed-serializer.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ClusterObjects } from "../../model/cluster-access.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { OwnershipDeps } from "../fs-group/set-ownership.js";
import type { VolumeMetrics } from "../metrics.js";
import type { SELinuxMounts } from "../se-linux-mounts.js";
import { VolumeError } from "../volume-error.js";
import { DriverObjects } from "./driver-objects.js";
import type { CsiDrivers } from "./drivers.js";
import { DeviceUsers } from "./users.js";

export interface CsiOptions {
  rootDir: string;
  nodeName: string;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  ownership: OwnershipDeps;
  metrics: VolumeMetrics;
  drivers: CsiDrivers;
  /** undefined until the kubelet has joined the cluster. */
  cluster: () => ClusterObjects | undefined;
  /** enableControllerAttachDetach: the attach/detach controller attaches volumes to this node. */
  controllerAttaches: boolean;
  /** undefined without SELinux. */
  seLinux: SELinuxMounts | undefined;
  /** volumesInUse has changed: the node's status wants to be sent, and volumes wait for that. */
  onInUse(): void;
}

export interface CsiContext extends CsiOptions {
  /** @throws VolumeError before the kubelet has joined */
  joined(): ClusterObjects;
  objects: DriverObjects;
  users: DeviceUsers;
  /** By deviceKey: staging, publishing and their undoing for one volume, one at a time. */
  locks: KeyedSerializer;
}

export function csiContext(options: CsiOptions): CsiContext {
  const joined = (): ClusterObjects => {
    const cluster = options.cluster();
    if (cluster === undefined) throw new VolumeError("the kubelet is not connected to its cluster yet; trying again");
    return cluster;
  };
  return {
    ...options,
    joined,
    objects: new DriverObjects(() => joined().client, options.clock),
    users: new DeviceUsers(),
    locks: new KeyedSerializer(),
  };
}
