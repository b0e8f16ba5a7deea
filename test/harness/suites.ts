// The suites: which files belong to each, where they run, and which command runs them (the README of this folder's
// parent is the charter).

/**
 * Where a file runs: `plain` needs no runtime; `machine` boots virtual machines; the others have a network namespace
 * and a private runtime; `containerd` is the installed one.
 */
export type LaneKind = "plain" | "machine" | "containerd" | "containerd2" | "docker" | "node22" | "installed-node";

export interface Suite {
  name: string;
  lane: LaneKind;
  /** Milliseconds for one file. */
  timeoutMs: number;
  /** Part of a plain `npm test`. */
  isDefault?: true;
  /** Not part of `npm run test:all`: its files are in another suite. */
  isSelection?: true;
  /**
   * Its lane is fixed: a chosen runtime does not replace it. Runs when it is named and in `npm run test:all`; a part of
   * a path alone does not select in it.
   */
  isVariant?: true;
  /** True for the sources (paths below test/) that belong to it. */
  has: (source: string) => boolean;
}

/**
 * The kubelet's core on real containerd, for `npm test`: a pod's life, probes, logs, exec, adoption after a kill, one
 * hostile case.
 */
const CORE = [
  "integration/pod-lifecycle",
  "integration/probes",
  "integration/logs",
  "integration/pod-exec",
  "integration/pod-adoption",
  "faults/hostile-containers",
];
/**
 * containerd 2, which users of Kubernetes 1.36 run, where the other suites have the installed containerd: devices of
 * ResourceClaims by CDI, and a pod's life.
 */
const ON_CONTAINERD2 = [
  ...[
    "cri-client",
    "dynamic-resources",
    "dynamic-resources-containers",
    "change-over",
    "pod-lifecycle",
    "pod-adoption",
  ],
  ...["pod-exec", "pod-removal", "pod-security", "pod-stats", "pod-update", "probes"],
].map((name) => `integration/${name}`);
/**
 * The installed containerd, where the other suites have containerd 2: what differs, beside the core, which both suites
 * of another Node.js run on it.
 */
const ON_INSTALLED_CONTAINERD = [
  ...["cri-client", "image-pull", "pod-environment", "pod-removal", "pod-security", "pod-stats", "pod-update"],
  ...["pod-volumes", "resize", "runtime-gates"],
].map((name) => `integration/${name}`);
/** What differs on a Docker Engine, and a pod's life there. */
const ON_DOCKER = [
  ...["cri-validation", "dockershim", "dockershim-faults", "dockershim-images", "start-docker", "pod-exec"],
  ...["pod-lifecycle", "pod-environment", "probes", "logs", "pod-stats", "pod-update", "pod-volumes", "resize"],
].map((name) => `integration/${name}`);

const FOLDERS = ["integration", "cluster", "faults", "hostile", "vm", "simulation"];

const inFolder =
  (folder: string) =>
  (source: string): boolean =>
    source.startsWith(`${folder}/`);
const inList =
  (names: readonly string[]) =>
  (source: string): boolean =>
    names.includes(source.replace(/\.test\.ts$/, ""));

export const SUITES: readonly Suite[] = [
  {
    ...{ name: "unit", lane: "plain", timeoutMs: 180_000, isDefault: true },
    has: (source) => !FOLDERS.some((folder) => inFolder(folder)(source)),
  },
  { name: "core", lane: "containerd", timeoutMs: 420_000, isDefault: true, isSelection: true, has: inList(CORE) },
  { name: "integration", lane: "containerd", timeoutMs: 420_000, has: inFolder("integration") },
  // Against an API server: the one of KUBECONFIG, or the fixture in test/fake-api.
  { name: "cluster", lane: "containerd", timeoutMs: 420_000, has: inFolder("cluster") },
  { name: "faults", lane: "containerd", timeoutMs: 600_000, has: inFolder("faults") },
  // A few attacks, small; with NODELET_HOSTILE=whole (`npm run test:hostile`) all of them at full size.
  { name: "hostile", lane: "containerd", timeoutMs: 3_600_000, has: inFolder("hostile") },
  { name: "on-containerd2", lane: "containerd2", timeoutMs: 420_000, isVariant: true, has: inList(ON_CONTAINERD2) },
  {
    ...{ name: "on-installed-containerd", lane: "containerd", timeoutMs: 420_000, isVariant: true },
    has: inList(ON_INSTALLED_CONTAINERD),
  },
  { name: "on-docker", lane: "docker", timeoutMs: 420_000, isVariant: true, has: inList(ON_DOCKER) },
  // The installed containerd, and another Node.js for tests and kubelet.
  { name: "on-node22", lane: "node22", timeoutMs: 420_000, isVariant: true, has: inList(CORE) },
  { name: "on-installed-node", lane: "installed-node", timeoutMs: 420_000, isVariant: true, has: inList(CORE) },
  // The whole agent from a seed, on a simulated machine (docs/simulation.md).
  { name: "simulation", lane: "plain", timeoutMs: 900_000, has: inFolder("simulation") },
  // Boots machines of its own.
  { name: "vm", lane: "machine", timeoutMs: 1_500_000, isVariant: true, has: inFolder("vm") },
];

/** The suite whose folder a test source (path below test/, with `/`) is in; unit for all other folders. */
export function suiteOf(source: string): string {
  return FOLDERS.find((folder) => inFolder(folder)(source)) ?? "unit";
}
