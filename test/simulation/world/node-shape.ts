// The machine and the settings of the simulated node. Most nodes are plain; the others hand out whole CPUs, and most
// of these devices, too. Some pods ask for them then.

import type { Random } from "../kernel/random.js";
import type { DiskLayout } from "./disk-use.js";
import { withPulls, type PullLimit } from "./image-layers.js";
import { withLogs, type LogLimits } from "./log-limits.js";
import { shutdownPeriods, someShutdown, type ShutdownGroup, type ShutdownSettings } from "./shutdown-settings.js";
import { withSomeStreams } from "./stream-settings.js";

/** configMapAndSecretChangeDetectionStrategy. */
export type ConfigStrategy = "Watch" | "Cache" | "Get";
export type TokenCacheType = "ServiceAccount" | "Token";

export interface NodeShape {
  /** CPUs of the machine. */
  cpus: number;
  /** The machine's sockets, cores and threads; undefined: the kernel tells nothing of them. */
  layout: Layout | undefined;
  /** CPUs that no pod gets for itself; undefined: the CPU manager's policy is none. */
  reserved: readonly number[] | undefined;
  /** Nor run containers on them that share the pool. */
  isStrict: boolean;
  /** Devices that a plugin offers; 0: there is no plugin. */
  devices: number;
  /** The runtime can give pods user namespaces, and some pods ask for one. */
  hasUserNamespaces: boolean;
  /** Some pods have ports of the node. */
  hasHostPorts: boolean;
  /** Some servers are probed by gRPC. */
  hasGrpcProbes: boolean;
  /** The memory manager's policy is Static; pods with CPUs of their own have memory of chosen NUMA nodes. */
  hasOwnMemory: boolean;
  /** Pods have cgroups; on the others containers are in those of the runtime. */
  hasPodCgroups: boolean;
  /** A CSI driver has volumes for some pods. */
  hasCsi: boolean;
  /** A DRA driver prepares claims of some pods. Absent on other nodes, whose description in traces stays as it was. */
  hasDra?: true;
  /** The DRA driver reports the health of its devices. */
  reportsHealth?: true;
  /** The device plugin prefers some devices. */
  prefers?: true;
  /** Users ask for larger CSI volumes. */
  expands?: true;
  /** The CSI driver refuses some of the sizes. */
  refusesSizes?: true;
  /** The CSI driver refuses some of the sizes for a while. */
  refusesForAWhile?: true;
  /** One of the volumes is for one pod at a time. */
  hasLoneVolume?: true;
  /** The CSI driver's volumes are attached to the node before their use. */
  attaches?: true;
  /** Some images need credentials: a provider has those of some, a secret those of others. */
  hasPrivateImages?: true;
  /** Another credential provider gets tokens of service accounts; its answers are kept by this. */
  accounts?: TokenCacheType;
  /** Pods have ConfigMaps and Secrets, which change; how the kubelet learns of changes. */
  configs?: ConfigStrategy;
  /** Programs beside the pods take so much memory at times that pods must be evicted. Only where pods have cgroups. */
  isShortOfMemory?: true;
  /** Programs beside the pods fill a disk at times. Which file systems the kubelet, images and containers have. */
  disks?: DiskLayout;
  /** Programs beside the pods take the last byte or inode of a disk at times. */
  fillsUp?: true;
  /** The runtime needs room, too: its calls fail on a disk that programs have filled. */
  runtimeNeedsRoom?: true;
  /** Containers of some pods write more and more. */
  writersGrow?: true;
  /** Pods have few inodes or many. */
  inodesDiffer?: true;
  /** Some pods use more of the disk than their limits allow. */
  hasStorageLimits?: true;
  /** Programs beside the pods have most process ids at times. Only where pods have cgroups. */
  isShortOfPids?: true;
  /** Pods are ended in order when the machine shuts down: how, lowest priority first. */
  shutdown?: readonly ShutdownGroup[];
  /** It belongs to no cluster: the kubelet serves the Kubernetes API itself. */
  hasOwnApi?: true;
  /** Programs follow objects of that API. */
  hasApiReaders?: true;
  /** Containers write logs that are rotated, and clients of port 10250 read them. */
  logs?: LogLimits;
  /** Images are pulled layer by layer, and pulls are cut; how many run at once. */
  pulls?: PullLimit;
  /** Clients exec, attach and forward ports through port 10250: streamingConnectionIdleTimeout, s. */
  streams?: number;
  /** Fields of KubeletConfiguration. */
  fields: Readonly<Record<string, unknown>>;
}

/** A socket is a NUMA node. Threads of a core are numbered as Linux does on most machines: first threads first. */
export interface Layout {
  sockets: number;
  /** In each socket. */
  cores: number;
  /** In each core. */
  threads: number;
}

export const PLAIN_NODE: NodeShape = {
  cpus: 4,
  layout: undefined,
  reserved: undefined,
  isStrict: false,
  devices: 0,
  hasUserNamespaces: false,
  hasHostPorts: false,
  hasGrpcProbes: false,
  hasOwnMemory: false,
  hasPodCgroups: false,
  hasCsi: false,
  fields: {},
};

const DEVICES = 5;

/** Part of the seeds whose node hands out CPUs. */
const SHARE = 0.3;
/** Part of these that hand out memory, too. */
const MEMORY_SHARE = 0.6;
/** Part of all seeds. */
const PORTS_SHARE = 0.3;
const GRPC_SHARE = 0.3;
const CGROUPS_SHARE = 0.3;
const CSI_SHARE = 0.3;
const DRA_SHARE = 0.3;
const IMAGES_SHARE = 0.3;
const CONFIGS_SHARE = 0.3;
/** Part of the nodes without drivers and private images. */
const OWN_API_SHARE = 0.4;
/** Part of these that have each of the other kinds of objects, and shutdowns. */
const OWN_PARTS_SHARE = 0.4;
/** Part of these whose objects programs follow. */
const READERS_SHARE = 0.5;
/** Part of the nodes with a plugin that does more. */
const MORE_SHARE = 0.5;
/** Part of the nodes whose pods have cgroups. */
const SHORTAGE_SHARE = 0.5;
/** Part of all seeds, and of these those with limits of ephemeral storage. */
const DISK_SHARE = 0.3;
const LIMITS_SHARE = 0.6;
/** Part of the nodes that run short of disks. */
const FULL_SHARE = 0.5;
const GROWING_SHARE = 0.5;
const INODES_SHARE = 0.5;
/** Part of the nodes whose pods have cgroups. */
const PIDS_SHARE = 0.3;
/** Part of the nodes that run short of something. */
const SOFT_SHARE = 0.5;
/** Part of the nodes with a CSI driver. */
const ATTACH_SHARE = 0.5;

/** Memory of the machine, and what pods do not get of it, on the first NUMA node: the default eviction threshold. */
export const MACHINE_MIB = 16 * 1024;
export const RESERVED_MIB = 100;

/** Part of all seeds. */
const SHUTDOWN_SHARE = 0.3;
const LAYOUTS: readonly Layout[] = [
  { sockets: 1, cores: 4, threads: 2 },
  { sockets: 2, cores: 2, threads: 2 },
  { sockets: 2, cores: 4, threads: 1 },
  { sockets: 2, cores: 4, threads: 2 },
];
const OPTIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  {},
  { "strict-cpu-reservation": "true" },
  { "full-pcpus-only": "true" },
  { "distribute-cpus-across-numa": "true" },
];

export function nodeShape(random: Random): NodeShape {
  const shape = withLogs(shapeWithoutLogs(random), random.stream("container logs"));
  const pulling = withPulls(shape, random.stream("pulls of images"));
  return withSomeStreams(pulling, random.stream("streams of containers"));
}

function shapeWithoutLogs(random: Random): NodeShape {
  const plain = shapeWithoutClaims(random);
  const attaches = plain.hasCsi && random.stream("attachments").chance(ATTACH_SHARE);
  const shape: NodeShape = attaches ? { ...plain, attaches } : plain;
  const withDriver: NodeShape = random.stream("DRA driver").chance(DRA_SHARE) ? { ...shape, hasDra: true } : shape;
  const hasPrivateImages = random.stream("private images").chance(IMAGES_SHARE);
  const withImages: NodeShape = hasPrivateImages ? { ...withDriver, hasPrivateImages } : withDriver;
  const configs = random.stream("config maps and secrets");
  const more = withMore(withImages, random);
  const all = configs.chance(CONFIGS_SHARE) ? withConfigs(more, configs.pick(STRATEGIES)) : more;
  const complete = withShortages(all, random);
  // What else the simulation has needs kinds of a cluster.
  const { hasCsi, hasDra, configs: strategy, writersGrow } = complete;
  const needsCluster = [hasCsi, hasDra, hasPrivateImages, strategy, writersGrow].some(Boolean);
  if (!needsCluster && random.stream("own API").chance(OWN_API_SHARE))
    return withOwnApiParts({ ...complete, hasOwnApi: true }, random);
  const shutdown = random.stream("node shutdown");
  return shutdown.chance(SHUTDOWN_SHARE) ? withShutdown(complete, someShutdown(shutdown)) : complete;
}

/** What a node without a cluster has of the kinds that the others have before they are chosen. */
function withOwnApiParts(plain: NodeShape, random: Random): NodeShape {
  const configs = random.stream("config maps of the own API");
  const shape = configs.chance(OWN_PARTS_SHARE) ? withConfigs(plain, configs.pick(STRATEGIES)) : plain;
  const more: Partial<NodeShape> = {};
  if (random.stream("private images of the own API").chance(OWN_PARTS_SHARE)) more.hasPrivateImages = true;
  const growing = random.stream("growing writers of the own API");
  if (plain.disks !== undefined && growing.chance(GROWING_SHARE)) more.writersGrow = true;
  if (random.stream("readers of the own API").chance(READERS_SHARE)) more.hasApiReaders = true;
  const complete = Object.keys(more).length > 0 ? { ...shape, ...more } : shape;
  const shutdown = random.stream("shutdowns of the own API");
  return shutdown.chance(OWN_PARTS_SHARE) ? withShutdown(complete, someShutdown(shutdown)) : complete;
}

/** `total` and `critical`: seconds. */
export function withShutdownPeriods(shape: NodeShape, total: number, critical: number): NodeShape {
  return withShutdown(shape, shutdownPeriods(total, critical));
}

function withShutdown(shape: NodeShape, { shutdown, fields }: ShutdownSettings): NodeShape {
  return { ...shape, shutdown, fields: { ...shape.fields, ...fields } };
}

const STRATEGIES = ["Watch", "Watch", "Cache", "Get"] as const;

export function withConfigs(shape: NodeShape, configs: ConfigStrategy): NodeShape {
  return { ...shape, configs, fields: { ...shape.fields, configMapAndSecretChangeDetectionStrategy: configs } };
}

/** What only a part of the nodes with such plugins has. */
function withMore(plain: NodeShape, random: Random): NodeShape {
  const more: Partial<NodeShape> = {};
  const accounts = random.stream("service accounts");
  if (plain.hasPrivateImages === true && accounts.chance(MORE_SHARE))
    more.accounts = accounts.pick(["ServiceAccount", "Token"] as const);
  if (plain.hasDra === true && random.stream("health of devices").chance(MORE_SHARE)) more.reportsHealth = true;
  if (plain.hasCsi && random.stream("expansions").chance(MORE_SHARE)) more.expands = true;
  if (more.expands === true && random.stream("refused sizes").chance(MORE_SHARE)) more.refusesSizes = true;
  if (more.expands === true && random.stream("sizes refused for a while").chance(MORE_SHARE))
    more.refusesForAWhile = true;
  if (plain.hasCsi && random.stream("volumes for one pod").chance(MORE_SHARE)) more.hasLoneVolume = true;
  if (plain.devices > 0 && random.stream("preferred devices").chance(MORE_SHARE)) more.prefers = true;
  return Object.keys(more).length > 0 ? { ...plain, ...more } : plain;
}

/** The node with its shortages of disks and process ids, and soft thresholds. */
function withShortages(plain: NodeShape, random: Random): NodeShape {
  let shape = plain;
  const disks = random.stream("short of disk");
  if (disks.chance(DISK_SHARE)) {
    shape = withShortDisks(shape, disks.pick(["single", "single", "dedicated", "split"]), disks.pick(AGES));
    if (disks.chance(LIMITS_SHARE)) shape = { ...shape, hasStorageLimits: true };
    if (random.stream("full disks").chance(FULL_SHARE)) shape = { ...shape, fillsUp: true };
    if (shape.fillsUp === true && random.stream("room of the runtime").chance(FULL_SHARE))
      shape = { ...shape, runtimeNeedsRoom: true };
    if (random.stream("growing writers").chance(GROWING_SHARE)) shape = { ...shape, writersGrow: true };
    if (random.stream("inodes of pods").chance(INODES_SHARE)) shape = { ...shape, inodesDiffer: true };
  }
  if (shape.hasPodCgroups && random.stream("shortage of pids").chance(PIDS_SHARE)) shape = withShortPids(shape);
  const soft = random.stream("grace of thresholds");
  if (!isShort(shape) || !soft.chance(SOFT_SHARE)) return shape;
  return withSoftThresholds(shape, { graceSeconds: soft.pick([10, 20, 40]), mostGraceSeconds: soft.pick([0, 3, 8]) });
}

/** Whether pods of the node may be evicted. */
export function isShort({ isShortOfMemory, disks, isShortOfPids }: NodeShape): boolean {
  return isShortOfMemory === true || disks !== undefined || isShortOfPids === true;
}

export function hasSoftThresholds({ fields }: NodeShape): boolean {
  return "evictionSoft" in fields;
}

/** imageMinimumGCAge; 0 would be the default, as upstream, two minutes. */
export const NO_AGE = "1us";
const AGES = [NO_AGE, "2m0s"];

export function withShortDisks(shape: NodeShape, disks: DiskLayout, imageMinimumGCAge = NO_AGE): NodeShape {
  const fields = { ...shape.fields, ...SHORTAGE_FIELDS, imageMinimumGCAge, evictionMinimumReclaim: DISK_RECLAIM };
  return { ...shape, disks, fields };
}

export function withShortPids(shape: NodeShape): NodeShape {
  return { ...shape, isShortOfPids: true, fields: { ...shape.fields, ...SHORTAGE_FIELDS, evictionHard: HARD } };
}

export function withSoftThresholds(
  shape: NodeShape,
  { graceSeconds, mostGraceSeconds }: { graceSeconds: number; mostGraceSeconds: number },
): NodeShape {
  const memory = shape.isShortOfMemory === true ? { "memory.available": "1024Mi" } : {};
  const disks = shape.disks === undefined ? {} : { "nodefs.available": "20%", "imagefs.available": "22%" };
  const pids = shape.isShortOfPids === true ? { "pid.available": "3000" } : {};
  const evictionSoft: Record<string, string> = { ...memory, ...disks, ...pids };
  const evictionSoftGracePeriod = Object.fromEntries(
    Object.keys(evictionSoft).map((signal) => [signal, `${graceSeconds}s`]),
  );
  const soft = { evictionSoft, evictionSoftGracePeriod, evictionMaxPodGracePeriod: mostGraceSeconds };
  const evictionMinimumReclaim = { ...DISK_RECLAIM, "memory.available": "200Mi" };
  return { ...shape, fields: { ...shape.fields, ...soft, evictionMinimumReclaim } };
}

function shapeWithoutClaims(random: Random): NodeShape {
  const node = random.chance(SHARE) ? nodeWithCpus(random) : PLAIN_NODE;
  const hasHostPorts = random.stream("host ports").chance(PORTS_SHARE);
  const hasGrpcProbes = random.stream("gRPC probes").chance(GRPC_SHARE);
  const hasCsi = random.stream("CSI driver").chance(CSI_SHARE);
  const shape = hasHostPorts || hasGrpcProbes || hasCsi ? { ...node, hasHostPorts, hasGrpcProbes, hasCsi } : node;
  if (!random.stream("pod cgroups").chance(CGROUPS_SHARE)) return shape;
  const withCgroups = withPodCgroups(shape);
  if (!random.stream("shortage of memory").chance(SHORTAGE_SHARE)) return withCgroups;
  return { ...withCgroups, isShortOfMemory: true, fields: { ...withCgroups.fields, ...SHORTAGE_FIELDS } };
}

export function withPodCgroups(shape: NodeShape): NodeShape {
  return { ...shape, hasPodCgroups: true, fields: { ...shape.fields, ...CGROUP_FIELDS } };
}

/** Fields of a node whose pods have cgroups. */
const CGROUP_FIELDS = { cgroupsPerQOS: true, enforceNodeAllocatable: ["pods"] };

/** A pressure is over so soon after its cause. */
export const TRANSITION_MS = 30_000;
/** Fields of a node that runs short of something. */
export const SHORTAGE_FIELDS = { evictionPressureTransitionPeriod: `${TRANSITION_MS / 1000}s` };

const DISK_RECLAIM = { "nodefs.available": "600Mi", "imagefs.available": "1000Mi" };

/** The kubelet's own hard thresholds, and one for process ids. */
const HARD = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
  "pid.available": "1000",
};

/** Fields of a node that hands out memory. */
const MEMORY_FIELDS = {
  memoryManagerPolicy: "Static",
  reservedMemory: [{ numaNode: 0, limits: { memory: `${RESERVED_MIB}Mi` } }],
};

/** A node with the CPU manager's static policy. */
function nodeWithCpus(random: Random): NodeShape {
  const layout = random.pick(LAYOUTS);
  const cpus = layout.sockets * layout.cores * layout.threads;
  // With its sibling, or alone.
  const reserved = layout.threads > 1 && random.chance(0.5) ? [0, cpus / layout.threads] : [0];
  const options = random.pick(OPTIONS);
  const fields = {
    cpuManagerPolicy: "static",
    cpuManagerPolicyOptions: options,
    reservedSystemCPUs: reserved.join(","),
    topologyManagerPolicy: random.pick(["none", "none", "best-effort", "restricted", "single-numa-node"]),
    topologyManagerScope: random.pick(["container", "pod"]),
  };
  const devices = random.chance(0.6) ? DEVICES : 0;
  const hasUserNamespaces = random.chance(0.6);
  const isStrict = "strict-cpu-reservation" in options;
  const hasOwnMemory = random.stream("memory").chance(MEMORY_SHARE);
  const all = hasOwnMemory ? { ...fields, ...MEMORY_FIELDS } : fields;
  return {
    cpus,
    layout,
    reserved,
    isStrict,
    devices,
    hasUserNamespaces,
    hasHostPorts: false,
    hasGrpcProbes: false,
    hasOwnMemory,
    hasPodCgroups: false,
    hasCsi: false,
    fields: all,
  };
}
