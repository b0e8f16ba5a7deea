// Creates the thread's components, for its entry and for tests with a fake kernel.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { EvictionDelta, EvictionInit, EvictionPod, EvictionUpcalls } from "../../shared/contracts/eviction.js";
import type { EvictionRecord } from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { CgroupReader } from "../../shared/node/stats/cgroup-figures.js";
import type { ReadText } from "../../shared/node/stats/kernel-file.js";
import { PodCgroups } from "../../shared/node/stats/pod-cgroups.js";
import { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { DiskRelief } from "./disk-relief.js";
import { Disks, type LookAtDisk } from "./disks.js";
import { Eviction } from "./eviction.js";
import { LimitRounds } from "./limit-rounds.js";
import { Machine } from "./machine.js";
import { MemcgNotifier } from "./memcg-notifier.js";
import { OomCounters } from "./oom/counters.js";
import type { LogDevice } from "./oom/kernel-log.js";
import { OomWatcher } from "./oom/watcher.js";
import { Outbox } from "./outbox.js";
import { PodFigures } from "./pod-figures.js";
import { PodRelief } from "./pod-relief.js";
import { PodStore } from "./pod-store.js";
import { WritableLayers, type LayersRuntime } from "./writable-layers.js";

/** Main calls the runtime for it. */
const IMAGE_FS_WAIT_MS = 10_000;

export interface EvictionInputs {
  init: EvictionInit;
  reader: CgroupReader;
  read: ReadText;
  publish: (record: EvictionRecord) => void;
  /** Main, with a deadline in ms. */
  main: (deadlineMs: number) => EvictionUpcalls;
  /** Connects to the runtime at first use. */
  connect: () => Promise<LayersRuntime>;
  watchUsage: (directory: string, bytes: number, onCrossed: () => void) => Disposable;
  /** As openKernelLog. */
  openLog: () => LogDevice;
  lookAtDisk?: LookAtDisk;
  board: { setOp(code: number): void; worked(): void; setPressures(bits: number): void };
  clock: Clock;
  log: Logger;
}

export interface EvictionService {
  setPods(pods: readonly EvictionPod[], orders: readonly PodUid[], pressures: readonly Pressure[]): void;
  applyPods(delta: EvictionDelta): void;
  close(): Promise<void>;
}

export function buildEvictionService(parts: EvictionInputs): EvictionService {
  const { init, reader, read, publish, main, connect, watchUsage, lookAtDisk, board, clock, log } = parts;
  const errorLog = new LastingErrors({ clock, log, level: "warn", remindMs: Infinity });
  const cgroups = new PodCgroups(init, reader);
  const podStore = new PodStore();
  const layers = new WritableLayers({ connect, clock, errorLog });
  const figures = new PodFigures({ reader, cgroups, layers, main, errorLog });
  const disks = new Disks({
    rootDir: init.rootDir,
    imageFileSystems: () => main(IMAGE_FS_WAIT_MS).imageFileSystems(),
    look: lookAtDisk,
    clock,
    errorLog,
  });
  const outbox = new Outbox({ publish, board, podStore, clock, log });
  const { evictionMaxPodGracePeriod } = init;
  const diskRelief = new DiskRelief({
    evictionMaxPodGracePeriod,
    disks,
    figures,
    podStore,
    outbox,
    main,
    observe: () => eviction.observe(),
    board,
    clock,
    log,
    errorLog,
  });
  const notifier =
    init.kernelMemcgNotification && reader.version === 1
      ? new MemcgNotifier({ reader, cgroups, watch: watchUsage, wake: () => eviction.wake(), clock, errorLog })
      : undefined;
  const oom = oomWatcher(parts, podStore, cgroups);
  const eviction: Eviction = new Eviction(init, {
    machine: new Machine({ reader, cgroups, read, clock }),
    disks,
    figures,
    podStore,
    outbox,
    podRelief: new PodRelief({ evictionMaxPodGracePeriod, figures, podStore, outbox, clock }),
    diskRelief,
    limits: new LimitRounds({ podStore, figures, outbox, layout: () => disks.layout, clock }),
    oom,
    onSample: (observations, thresholds) => notifier?.looked(observations, thresholds),
    board,
    clock,
    log,
    errorLog,
  });
  return {
    setPods: (pods, orders, pressures) => eviction.setPods(pods, orders, pressures),
    applyPods: (delta) => eviction.applyPods(delta),
    async close() {
      notifier?.[Symbol.dispose]();
      await Promise.all([eviction.stop(), layers.close()]);
      oom[Symbol.dispose]();
    },
  };
}

function oomWatcher(
  { reader, read, publish, openLog, clock, log }: EvictionInputs,
  podStore: PodStore,
  cgroups: PodCgroups,
): OomWatcher {
  const pods = (): string[] => podStore.all().flatMap((pod) => cgroups.pathOf(pod) ?? []);
  return new OomWatcher({
    open: openLog,
    counters: new OomCounters({ read, reader, pods }),
    known: (uid) => podStore.has(uid),
    publish,
    clock,
    log,
  });
}
