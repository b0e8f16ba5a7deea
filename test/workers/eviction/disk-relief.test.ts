// Relief of a short disk: what the order for a pod says. The whole service is in eviction.test.ts.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../src/shared/base/clock/moments.js";
import type { EvictionRecord, PodDiskUsage } from "../../../src/shared/contracts/eviction.js";
import { DiskRelief, type DiskReliefDeps } from "../../../src/workers/eviction/disk-relief.js";
import { Outbox } from "../../../src/workers/eviction/outbox.js";
import type { Layers } from "../../../src/workers/eviction/pod-storage.js";
import { PodStore } from "../../../src/workers/eviction/pod-store.js";
import { silentLog } from "../../support/silent.js";
import { MIB, pod, seen, threshold } from "./kit.js";

const part = <T>(value: Partial<T>): T => value as T;
const nothing = { bytes: 0, inodes: 0 };

test("the first eviction for the kubelet's disk names what each container uses on both disks", async () => {
  const big = pod("big");
  const podStore = new PodStore();
  podStore.set([big], [], 0);
  const records: EvictionRecord[] = [];
  const clock = { monotonic: () => monotonicTime(0) };
  const publish = (record: EvictionRecord): void => void records.push(record);
  const outbox = new Outbox({ publish, board: { setPressures: () => undefined }, podStore, clock, log: silentLog });
  // The runtime's figures are known only after they were asked for.
  let layers: Layers | undefined;
  const figures = part<DiskReliefDeps["figures"]>({
    measure: (_uids, _maxAgeMs, _withinMs, withLayers) => {
      if (withLayers) layers = new Map([["c", { bytes: 2 * MIB, inodes: 1 }]]);
      return Promise.resolve();
    },
    diskOf: ({ uid }) =>
      part<PodDiskUsage>({
        ...{ uid, other: nothing },
        ...{ logs: [{ container: "c", bytes: MIB, inodes: 1 }], volumes: [{ name: "v", bytes: 9 * MIB, inodes: 1 }] },
      }),
    layersOf: () => layers,
  });
  const relief = new DiskRelief({
    ...{ evictionMaxPodGracePeriod: 0, podStore, outbox, clock, figures, log: silentLog },
    disks: part<DiskReliefDeps["disks"]>({ layout: "dedicated" }),
    main: () => part<ReturnType<DiskReliefDeps["main"]>>({}),
    observe: () => seen({ "nodefs.available": 100 * MIB }),
    board: { setOp: () => undefined },
    errorLog: part<DiskReliefDeps["errorLog"]>({}),
  });
  const due = threshold("nodefs.available", "700Mi");
  await relief.relieve(due, [due], [due], seen({ "nodefs.available": 100 * MIB }));
  deepEqual(
    records.map((record) => record.kind === "evict" && record.message),
    [
      "The node was low on resource: ephemeral-storage. Threshold quantity: 700Mi, available: 100Mi. " +
        "Container c was using 3Mi, request is 0, has larger consumption of ephemeral-storage. ",
    ],
  );
});
