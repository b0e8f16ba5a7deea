// CSI volumes with everything around them: a root directory, objects in memory, our driver, registered.

import type { TestContext } from "node:test";
import type { ClusterObjects } from "../../../src/main/model/cluster-access.js";
import type { CsiOptions } from "../../../src/main/volumes/csi/context.js";
import type { CsiVolume } from "../../../src/main/volumes/csi/csi-volume.js";
import { CsiVolumes } from "../../../src/main/volumes/csi/csi-volumes.js";
import type { DriverSpec } from "../../../src/main/volumes/csi/driver-objects.js";
import { CsiDrivers } from "../../../src/main/volumes/csi/drivers.js";
import { connectCsiNode } from "../../../src/main/volumes/csi/node-client.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { CSI_DRIVERS, NODES } from "../../../src/shared/kubernetes/api/client/kinds.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { changeOwnership } from "../../../src/workers/tasks/ownership/change-ownership.js";
import { keptEvents, temporaryRoot } from "../../main/volumes/temporary-root.js";
import { noCsiMetrics, silentLog } from "../silent.js";
import { noVolumeMetrics } from "../silent.js";
import { volumeCalls } from "../volume-calls.js";
import { TestCsiDriver, type TestDriverOptions } from "./driver.js";
import { MemoryApi } from "./memory-api.js";

export const DRIVER = "test.csi.nodelet";
export const NODE = "node-1";
export const never = new AbortController().signal;

export function clusterOf(api: MemoryApi): ClusterObjects {
  const cluster: Pick<ClusterObjects, "client" | "tokens" | "node"> = {
    client: api,
    tokens: {
      get: ({ audience = "api" }) => Promise.resolve({ token: `token for ${audience}`, expiresAt: 3_600_000 }),
    },
    node: () => api.find(NODES, { name: NODE }),
  };
  return cluster as ClusterObjects;
}

export interface CsiKit {
  root: string;
  api: MemoryApi;
  driver: TestCsiDriver;
  volumes: CsiVolumes;
  events: ReturnType<typeof keptEvents>;
  /** As another kubelet would begin, with nothing but the disk. */
  restarted: (more?: Partial<CsiOptions>) => CsiVolumes;
}

export async function csiKit(
  t: TestContext,
  {
    spec = { attachRequired: false },
    driver: driverOptions = {},
    options = {},
    timeoutMs = 120_000,
  }: {
    spec?: DriverSpec;
    driver?: Partial<TestDriverOptions>;
    options?: Partial<CsiOptions>;
    timeoutMs?: number;
  } = {},
): Promise<CsiKit> {
  const root = await temporaryRoot(t);
  const driver = await TestCsiDriver.start({ name: DRIVER, rootDir: root, home: `${root}/driver`, ...driverOptions });
  t.after(() => driver[Symbol.asyncDispose]());
  const api = new MemoryApi();
  api.put(NODES, { metadata: { name: NODE } });
  api.put(CSI_DRIVERS, { metadata: { name: DRIVER }, spec });
  const events = keptEvents();
  const log = silentLog;
  const cluster = clusterOf(api);
  const made: CsiVolumes[] = [];
  const restarted = (more: Partial<CsiOptions> = {}): CsiVolumes => {
    const drivers = new CsiDrivers(systemClock, 50);
    const volumes = new CsiVolumes({
      rootDir: root,
      nodeName: NODE,
      clock: systemClock,
      log,
      events,
      metrics: noVolumeMetrics,
      ownership: {
        changeOwnership: (job) => Promise.resolve(changeOwnership(job)),
        ...{ events, calls: volumeCalls(), clock: systemClock, metrics: noVolumeMetrics },
      },
      drivers,
      cluster: () => cluster,
      controllerAttaches: true,
      seLinux: undefined,
      onInUse: () => undefined,
      ...options,
      ...more,
    });
    const node = connectCsiNode({
      driver: DRIVER,
      endpoint: driver.endpoint,
      clock: systemClock,
      metrics: noCsiMetrics,
      timeoutMs,
    });
    (more.drivers ?? drivers).add({ name: DRIVER, endpoint: driver.endpoint, version: "1.0.0", node });
    made.push(volumes);
    return volumes;
  };
  t.after(async () => {
    for (const volumes of made) {
      await volumes.stop();
      volumes.context.drivers.close();
    }
  });
  return { root, api, driver, volumes: restarted(), events, restarted };
}

export function csiVolume(fields: Partial<CsiVolume> = {}): CsiVolume {
  return {
    driver: DRIVER,
    handle: "vol-1",
    lifecycle: "Persistent",
    name: "pv-1",
    spec: "pv-1",
    fsType: "",
    attributes: { size: "big" },
    mountOptions: [],
    accessModes: ["ReadWriteOnce"],
    readOnly: false,
    ...fields,
  };
}

export function podOf(uid: string, securityContext?: Pod["spec"]["securityContext"]): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${uid}`, namespace: "default", uid: podUid(uid) },
    spec: {
      containers: [],
      serviceAccountName: "builder",
      ...(securityContext === undefined ? {} : { securityContext }),
    },
  };
}
