// The content of the cadvisor page: root, cgroups above the pods, parts of the node, pods, sandboxes, containers.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import type { FsFigures, WritableLayer } from "../../../shared/node/stats/fs-figures.js";
import { modifiedAt, type ReadText } from "../../../shared/node/stats/kernel-file.js";
import { meminfo, type MachineFacts } from "../../../shared/node/stats/machine.js";
import { Breath } from "./breath.js";
import { readDiskCounters, type DiskCounters } from "./disk-counters.js";
import { CadvisorPage, type CadvisorCgroup, type DeviceFigures } from "./exposition/cadvisor.js";
import type { Networks } from "./networks.js";
import { readProcesses } from "./process-figures.js";
import type { NodeReadings, PodReading, Reading } from "./readings.js";

export interface CadvisorDeps {
  reader: CgroupReader;
  read: ReadText;
  /** For what seldom changes. */
  settled: ReadText;
  machine: MachineFacts;
  networks: Networks;
  /** A reading of a cgroup that the present sample lacks. */
  one: (path: string) => Reading;
  clock: Clock;
}

export interface CadvisorInputs {
  readings: NodeReadings;
  /** Paths of kubepods and the QoS classes. */
  above: readonly string[];
  layers: ReadonlyMap<string, WritableLayer>;
  /** The node's file systems, by name. */
  systems: readonly (FsFigures & { device: string })[];
  sandboxImage: string;
}

type Labels = CadvisorCgroup["labels"];
const NO_CONTAINER: Labels = { container: "", image: "", name: "", namespace: "", pod: "" };

export async function cadvisorPage(deps: CadvisorDeps, inputs: CadvisorInputs): Promise<CadvisorPage> {
  const { machine, read, clock, networks, reader } = deps;
  const { readings, above, layers, systems, sandboxImage } = inputs;
  const disks = readDiskCounters(read);
  const page = new CadvisorPage(disks);
  const breath = new Breath(clock);
  const shown = new Set<string>();
  const show = async (labels: Labels, reading: Reading, more: Partial<CadvisorCgroup> = {}): Promise<void> => {
    if (shown.has(reading.path) || reading.memory === undefined) return;
    shown.add(reading.path);
    const pressure = reader.version === 2 ? { pressure: reader.pressure(reading.path) } : {};
    page.cgroup({
      labels,
      reading,
      startedAt: more.startedAt ?? modifiedAt(reader.directory(reading.path)) ?? machine.bootedAt,
      seenAt: clock.now(),
      details: reader.details(reading.path),
      memoryLimit: reading.memory.limit ?? 0,
      processes: processesOf(deps, reading.path),
      ...pressure,
      ...more,
    });
    await breath.take();
  };
  addMachine(page, machine, read);
  await show(NO_CONTAINER, readings.root, {
    startedAt: machine.bootedAt,
    memoryLimit: machine.memory,
    fs: systems.map((fs) => ({ ...deviceFigures(fs), ...present("disk", diskOf(fs.device, disks)) })),
    ...present("network", networks.of("node")?.interfaces),
  });
  for (const path of above) await show(NO_CONTAINER, deps.one(path));
  for (const { reading } of readings.system) await show(NO_CONTAINER, reading);
  for (const pod of readings.pods) {
    const { name, namespace } = pod.place.pod.metadata;
    const ofPod = { ...NO_CONTAINER, namespace, pod: name };
    await show(ofPod, pod.reading, present("startedAt", startOf(pod)));
    const { sandbox } = pod.place;
    if (sandbox !== undefined) {
      const labels = { ...ofPod, image: sandboxImage, name: sandbox.id };
      await show(labels, deps.one(sandbox.path), present("network", networks.of(pod)?.interfaces));
    }
    for (const { place, reading } of pod.containers) {
      const layer = layers.get(place.id);
      await show({ ...ofPod, container: place.name, image: place.image, name: place.id }, reading, {
        ...present("startedAt", place.startedAt),
        // Of inodes upstream shows none for containers.
        ...present("fs", layer === undefined ? undefined : [roomOf(layer)]),
      });
    }
  }
  return page;
}

/** The machine's rows, on a page that could be made. */
export function addMachine(page: CadvisorPage, machine: MachineFacts, read: ReadText): void {
  page.machine(machine, meminfo(read, "SwapTotal"));
  page.errors(0, 0);
}

/** The page of a node that cannot be read. */
export function failedCadvisorPage(): CadvisorPage {
  const page = new CadvisorPage();
  page.errors(1, 1);
  return page;
}

function processesOf({ reader, settled }: CadvisorDeps, path: string): NonNullable<CadvisorCgroup["processes"]> {
  const pids = reader.processes(path);
  return { count: pids.length, ...readProcesses(pids, settled) };
}

function roomOf({ device, usedBytes, capacityBytes }: WritableLayer): DeviceFigures {
  return { device, used: usedBytes ?? 0, ...present("limit", capacityBytes) };
}

function deviceFigures(fs: WritableLayer): DeviceFigures {
  return { ...roomOf(fs), ...present("inodes", fs.inodes), ...present("inodesFree", fs.inodesFree) };
}

function diskOf(device: string, disks: readonly DiskCounters[]): DiskCounters | undefined {
  return disks.find(({ name }) => device === `/dev/${name}`);
}

function startOf({ place }: PodReading): number | undefined {
  const started = Date.parse(place.pod.status?.startTime ?? "");
  return Number.isNaN(started) ? undefined : started;
}

function present<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<K, V>>);
}
