// ConfigMaps and Secrets reach containers whole: the files of a volume are those of one version of each object, never
// older than some minutes before the pod, and nothing starts without an object that it needs. Soon after each change
// the files are those of the newest version.

import { ContainerState, type KeyValue } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { KEY_VARIABLE, PREFIX, type ConfigUse } from "../plan/own-configs.js";
import { CONFIG_NAMESPACE, CONFIGS, keysOf, readContent, type ConfigObjects } from "../world/config-objects.js";
import type { ContainerFiles } from "../world/container-files.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

const LOOK_EVERY_MS = 5000;
/** Time until a change must be seen. Strategies that ask do so each minute, and keep what they read for a minute. */
const SEEN_MS = { Watch: 30_000, Cache: 170_000, Get: 100_000 };
/** Pods run again so long after a fault. */
const CALM_MS = 90_000;
/** What a kubelet had read before the server went away may be as old. */
const STALE_MS = 300_000;

interface Running {
  id: string;
  pod: string;
  uses: readonly ConfigUse[];
  createdAt: number;
}

/** The objects, and what containers have of them. */
interface Seen {
  configs: ConfigObjects;
  files: ContainerFiles;
}

export const configsAreProjected: Invariant = {
  name: "config maps and secrets reach containers whole and in time",
  promisedBy: "docs/adr/0026-objects-of-pods.md",
  watch(world, broken) {
    const { configs, files, node } = world;
    if (configs === undefined || files === undefined || node.configs === undefined) return undefined;
    const seen = { configs, files };
    const seenMs = SEEN_MS[node.configs];
    const look = (): void => {
      const { lastFaultAt, startedAt = Infinity } = world.facts;
      const isCalm = kernel.monotonic - Math.max(lastFaultAt + CALM_MS - seenMs, startedAt) > seenMs;
      for (const container of runningOf(world)) {
        checkVolumes(seen, container, broken);
        if (isCalm) checkNewest(seen, container, seenMs, broken);
      }
    };
    const again = (): void => {
      look();
      kernel.after(kernel.world, LOOK_EVERY_MS, again);
    };
    kernel.after(kernel.world, LOOK_EVERY_MS, again);
    world.runtime.watchers.add((verb, request) => {
      if (verb !== "StartContainer") return;
      const { containerId } = request as { containerId: string };
      const container = usesOf(world, containerId);
      if (container === undefined) return;
      const envs = world.runtime.state.containers.get(containerId)?.config.envs ?? [];
      checkVariables(configs, { container, envs }, broken);
    });
    return () => {
      look();
      checkWatches(world, broken);
    };
  },
};

/** Undefined: the pod names no such object. Only first containers have them. */
function usesOf({ runtime, facts }: World, id: string): Running | undefined {
  const config = runtime.state.containers.get(id)?.config;
  if (config === undefined || !config.mounts.some(({ containerPath }) => containerPath === "/etc/config-0"))
    return undefined;
  const pod = podNameOf(config.labels);
  const found = facts.pods.get(pod);
  if (found?.shape.configs === undefined || found.uid !== config.labels["io.kubernetes.pod.uid"]) return undefined;
  return { id, pod, uses: found.shape.configs, createdAt: found.createdAt };
}

function runningOf(world: World): Running[] {
  return [...world.runtime.state.containers].flatMap(([id, { status }]) => {
    const found = status.state === ContainerState.CONTAINER_RUNNING ? usesOf(world, id) : undefined;
    return found ?? [];
  });
}

/** Uses of each volume, by its name. */
function volumesOf({ uses }: Running): Map<string, ConfigUse[]> {
  const volumes = new Map<string, ConfigUse[]>();
  for (const use of uses)
    if (use.as !== KEY_VARIABLE && use.as !== PREFIX) volumes.set(use.as, [...(volumes.get(use.as) ?? []), use]);
  return volumes;
}

function checkVolumes({ configs, files: all }: Seen, container: Running, broken: Broken): void {
  for (const [volume, uses] of volumesOf(container)) {
    const files = new Map(all.read(container.id, volume));
    for (const use of uses) {
      const paths = [...files.keys()].filter((path) => readContent(files.get(path) ?? "")?.object === objectOf(use));
      const texts = paths.map((path) => files.get(path) ?? "");
      for (const path of paths) files.delete(path);
      checkContent(configs, container, { use, texts, where: `the volume ${volume}` }, broken);
    }
    const [other] = files;
    if (other !== undefined) broken(`the volume ${volume} has "${other[1]}" in ${other[0]}`, container.pod);
  }
}

function checkVariables(
  configs: ConfigObjects,
  { container, envs }: { container: Running; envs: readonly KeyValue[] },
  broken: Broken,
): void {
  for (const use of container.uses) {
    if (use.as !== KEY_VARIABLE && use.as !== PREFIX) continue;
    const texts = envs.filter(({ key }) => key.startsWith(use.as)).map(({ value }) => value.toString());
    const item = use.as === KEY_VARIABLE ? { item: { key: "a", path: "" } } : {};
    checkContent(configs, container, { use: { ...use, ...item }, texts, where: `the variable ${use.as}` }, broken);
  }
}

/** The texts are those of one version, and not of a too old one. */
function checkContent(
  configs: ConfigObjects,
  { pod, createdAt }: Running,
  { use, texts, where }: { use: ConfigUse; texts: readonly string[]; where: string },
  broken: Broken,
): void {
  const since = createdAt - STALE_MS;
  if (texts.length === 0) {
    if (!use.isOptional || !configs.wasMissing(use.kind, use.name, since))
      broken(`${where} lacks ${objectOf(use)}`, pod);
    return;
  }
  const parts = texts.map(readContent);
  const [first] = parts;
  const version = first?.version ?? 0;
  const wanted = use.item === undefined ? keysOf(version) : [use.item.key];
  const keys = parts.map((part) => (part?.object === objectOf(use) && part.version === version ? part.key : "?"));
  if (keys.toSorted().join() !== wanted.toSorted().join())
    broken(`${where} has ${texts.join(", ")} and not the keys ${wanted.join()} of one version`, pod);
  const oldest = configs.versionAt(use.kind, use.name, since) ?? 0;
  if (version < oldest) broken(`${where} has version ${version} of ${objectOf(use)}, older than ${oldest}`, pod);
}

function checkNewest({ configs, files }: Seen, container: Running, seenMs: number, broken: Broken): void {
  for (const [volume, uses] of volumesOf(container)) {
    const read = files.read(container.id, volume) ?? new Map<string, string>();
    for (const use of uses) {
      const newest = configs.newest(use.kind, use.name);
      if (newest === undefined || kernel.monotonic - configs.changedAt(use.kind, use.name) < seenMs) continue;
      const versions = [...read.values()].map(readContent).filter((part) => part?.object === objectOf(use));
      if (versions.some((part) => part?.version === newest)) continue;
      broken(`the volume ${volume} does not have version ${newest} of ${objectOf(use)}`, container.pod);
    }
    const paths = new Set([...read.keys()].map((path) => path.split("/")[0]));
    const names = files.names(container.id, volume);
    if (uses.every(({ kind, name }) => kernel.monotonic - configs.changedAt(kind, name) >= seenMs))
      if (names.toSorted().join() !== [...paths].toSorted().join())
        broken(`the volume ${volume} shows ${names.join()} for ${[...paths].join()}`, container.pod);
  }
}

/** An object has one watch, which ends a minute after its last pod. */
function checkWatches({ cluster, own, facts, node }: World, broken: Broken): void {
  const uses = facts.wanted.flatMap(({ shape }) => shape.configs ?? []);
  for (const [kind, name] of CONFIGS) {
    const selector = `metadata.name=${name}`;
    const watches =
      own?.api.watchesOf(kind, CONFIG_NAMESPACE, selector) ??
      cluster.watches.of(kind).filter((one) => one.namespace === CONFIG_NAMESPACE && one.fieldSelector === selector)
        .length;
    const isUsed = node.configs === "Watch" && uses.some((use) => use.kind === kind && use.name === name);
    const most = isUsed ? 1 : 0;
    if (watches > most) broken(`${kind} ${name} has ${watches} watches, and needs ${most}`);
  }
}

function objectOf({ kind, name }: ConfigUse): string {
  return `${kind} ${name}`;
}
