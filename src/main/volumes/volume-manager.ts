// A pod's volumes, set up before its first container and torn down after its last. Desired and actual state are
// separate (world/). Disk and mount table decide, so a restarted kubelet needs no state of its predecessor. Invariant:
// only volumes that a container uses are set up; nothing is deleted before the volumes of an earlier kubelet were
// compared with the mount table; a pod's directory is removed only after its volumes are torn down; no volume waits for
// another.

import { messageOf } from "../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { lazily } from "../../shared/base/turns/lazily.js";
import { LoopShare } from "../../shared/base/turns/loop-share.js";
import type { VolumeFacts } from "../../shared/contracts/nodelet.js";
import { podDirectory } from "../../shared/kubernetes/api/pod-paths.js";
import { safePodUid } from "../../shared/kubernetes/api/pod-uid.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import { factsOf } from "../model/error-facts.js";
import { VolumeRefusedError, UnsupportedVolumeError, VolumeSetUpError } from "./errors.js";
import { measured } from "./measured.js";
import * as paths from "./paths.js";
import type { VolumePlace } from "./place.js";
import type { OnPluginKnown, VolumeDoer, VolumePlugin } from "./plugin.js";
import { volumePlugins } from "./plugins.js";
import { reconcile } from "./reconcile.js";
import { removeOwnTree } from "./remove-tree.js";
import { prepareSubPath, type SubPathRequest } from "./sub-path.js";
import { tearDownVolumes } from "./tear-down.js";
import type { VolumeManagerOptions } from "./volume-manager-options.js";
import { ActualState, volumeKey } from "./world/actual-state.js";
import { DesiredState, type WantedVolume } from "./world/desired-state.js";
import { VolumeOperations } from "./world/operations.js";
import { Refresher, refreshVolumes } from "./world/refresher.js";
import { takingOver } from "./world/taking-over.js";
import { notReady, emitNotReady, waitForVolumes } from "./world/wait-for-volumes.js";

export interface VolumeManager {
  /**
   * The places of the pod's volumes, by volume name; the pod's directory exists. Idempotent, and quick when all volumes
   * are set up. A failed operation
   * is reported as an event of the pod and repeated with back-off, for two minutes.
   * @throws UnsupportedVolumeError, VolumesNotReadyError, or the signal's reason
   */
  setUpPod(pod: Pod, signal: AbortSignal): Promise<Map<string, VolumePlace>>;
  /** All volumes that containers of the pod use are set up. */
  areSetUp(pod: Pod): boolean;
  /** Called with the pod's UID whenever setUpPod has set up all its volumes. One listener. */
  onSetUp(listener: (uid: PodUid) => void): void;
  /**
   * Takes the pod's current definition: the content of its volumes follows it. `isAdopted`: an earlier kubelet ran the
   * pod, so this content may be behind.
   */
  podChanged(pod: Pod, isAdopted?: boolean): void;
  /** A source of the content of the pod's volumes may have changed. */
  refreshPod(uid: PodUid): void;
  /** Ends background work; volumes stay as they are. */
  stop(): Promise<void>;
  /** Host path to mount for a volumeMount with a subPath. @throws SubPathError, VolumeError */
  prepareSubPath(request: SubPathRequest): Promise<string>;
  /** Idempotent. @throws VolumeError, ForeignMountError, VolumeError: try again later */
  tearDownPod(uid: PodUid): Promise<void>;
  /** Removes the rest of the pod's directory. @throws ForeignMountError while anything is mounted below it */
  removePodDirectory(uid: PodUid): Promise<void>;
  /** The requested volumes of the pod, for the nodelet command. */
  describe(uid: PodUid): VolumeFacts[];
  /** Pods with a directory on disk. */
  listPods(): Promise<PodUid[]>;
}

/** `cluster` is absent on a stand-alone node. */
export function createVolumeManager(given: VolumeManagerOptions, cluster?: ClusterAccess): VolumeManager {
  const options = { ...given, log: moduleLogger(given.log, "volumes") };
  return new PluginVolumeManager(options, volumePlugins(options, cluster));
}

/** @internal */
export class PluginVolumeManager implements VolumeManager {
  private readonly desired = new DesiredState();
  private readonly actual = new ActualState();
  private readonly operations: VolumeOperations;
  private readonly refresher: Refresher;
  private readonly loop: LoopShare;
  /** The newest definition of pods whose volumes' content may change. */
  private readonly refreshed = new Map<PodUid, Pod>();
  /** Until it once went well, nothing is set up and nothing deleted. */
  private readonly reconcileOnce = lazily(async () => {
    for (const volume of await reconcile(this.options)) this.actual.setUp(volume);
  });
  private listener: (uid: PodUid) => void = () => undefined;

  constructor(
    private readonly options: VolumeManagerOptions,
    private readonly plugins: readonly VolumePlugin[],
  ) {
    this.operations = new VolumeOperations(options.clock);
    this.loop = new LoopShare(options.clock);
    this.refresher = new Refresher({
      clock: options.clock,
      intervalMs: options.syncFrequencyMs,
      refresh: (uid, signal) => this.refresh(uid, signal),
      onError: (uid, error) =>
        options.log.error({ uid, err: error }, `cannot update the volumes of pod ${uid}: ${messageOf(error)}`),
    });
    options.metrics.watchTotals((state) => (state === "desired_state_of_world" ? this.desired : this.actual).counts());
  }

  async setUpPod(pod: Pod, signal: AbortSignal): Promise<Map<string, VolumePlace>> {
    signal.throwIfAborted();
    safePodUid(pod.metadata.uid);
    const { events, clock } = this.options;
    // Refuse before anything is made: a pod of which one volume cannot be is not started at all.
    const volumes = this.planned(pod);
    await this.reconcileOnce();
    signal.throwIfAborted();
    this.desired.want(pod, volumes);
    this.follow(pod);
    const { actual, operations, loop } = this;
    const attempt = <T>(doer: VolumeDoer | undefined, work: (onPluginKnown: OnPluginKnown) => Promise<T>): Promise<T> =>
      measured(this.options, "volume_mount", doer, work);
    const mounted = (plugin: string, durationMs: number): void => this.options.metrics.mounted(plugin, durationMs);
    try {
      const deps = { operations, actual, events, clock, loop, attempt, mounted };
      const places = await waitForVolumes(deps, { pod, volumes }, signal);
      this.listener(pod.metadata.uid);
      return places;
    } catch (error) {
      if (error instanceof VolumeRefusedError) this.refuse(pod, volumes, error);
      throw error;
    }
  }

  areSetUp(pod: Pod): boolean {
    return usedVolumes(pod).every(({ name }) => this.actual.has(pod.metadata.uid, name));
  }

  onSetUp(listener: (uid: PodUid) => void): void {
    this.listener = listener;
  }

  private refuse(pod: Pod, volumes: readonly WantedVolume[], error: VolumeRefusedError): void {
    const missing = volumes
      .map(({ volume: { name } }) => name)
      .filter((name) => !this.actual.has(pod.metadata.uid, name));
    const { message } = notReady(missing, [], error.problem, error);
    const text = `Node has reached its volume attachment limit, rejecting pod. ${message.replace(/^.*?: unmounted/, "unmounted")}`;
    this.options.events.pod(pod, { type: "Warning", reason: error.reason, message: text });
    this.options.refuse?.(pod.metadata.uid, { reason: error.reason, message: text });
  }

  podChanged(pod: Pod, isAdopted = false): void {
    const { uid } = pod.metadata;
    const known = this.refreshed.has(uid);
    if (!this.follow(pod, isAdopted) || !known) return;
    // As upstream, a deletion does not refresh the volumes: each would need a request for a token.
    if (pod.metadata.deletionTimestamp === undefined) this.refresher.soon(uid);
  }

  refreshPod(uid: PodUid): void {
    this.operations.retryNow(uid);
    this.refresher.soon(uid);
  }

  async stop(): Promise<void> {
    await this.refresher.stop();
    await Promise.all(this.plugins.map(async (plugin) => plugin.stop?.()));
  }

  prepareSubPath(request: SubPathRequest): Promise<string> {
    return prepareSubPath(this.options, request);
  }

  async tearDownPod(uid: PodUid): Promise<void> {
    const { rootDir, clock, log } = this.options;
    this.refreshed.delete(uid);
    await this.refresher.forget(uid);
    await this.reconcileOnce();
    this.desired.forget(uid);
    const { actual, operations, plugins, loop } = this;
    const attempt = <T>(doer: VolumeDoer, work: (onPluginKnown: OnPluginKnown) => Promise<T>): Promise<T> =>
      measured(this.options, "volume_unmount", doer, work);
    await tearDownVolumes({ rootDir, clock, log, plugins, operations, actual, loop, attempt }, uid);
  }

  async removePodDirectory(uid: PodUid): Promise<void> {
    const directory = podDirectory(this.options.rootDir, uid);
    await this.tearDownPod(uid);
    await removeOwnTree(directory);
  }

  describe(uid: PodUid): VolumeFacts[] {
    const now = this.options.clock.now();
    return this.desired.of(uid).map(({ volume: { name }, plugin, doer }): VolumeFacts => {
      const { runningForMs, lastError, restMs } = this.operations.describe(volumeKey(uid, name));
      return omitUndefined({
        name,
        plugin: doer?.plugin ?? plugin.name,
        mounted: this.actual.has(uid, name),
        runningSince: runningForMs !== undefined ? Math.round(now - runningForMs) : undefined,
        lastError: lastError === undefined ? undefined : messageOf(lastError),
        ...factsOf(lastError),
        nextTryAt: restMs !== undefined ? Math.round(now + restMs) : undefined,
      });
    });
  }

  listPods(): Promise<PodUid[]> {
    return paths.podUidsIn(this.options.rootDir);
  }

  /** False for a pod without volumes whose content changes. */
  private follow(pod: Pod, isAdopted = false): boolean {
    const { uid } = pod.metadata;
    if (!usedVolumes(pod).some((volume) => this.pluginOf(volume)?.refresh !== undefined)) return false;
    this.refreshed.set(uid, pod);
    this.refresher.watch(uid, isAdopted);
    return true;
  }

  /** Resolves to false when a volume could not be brought up to date. */
  private async refresh(uid: PodUid, signal: AbortSignal): Promise<boolean> {
    const { events, log } = this.options;
    try {
      await this.reconcileOnce();
    } catch (error) {
      log.warn({ uid, err: error }, "cannot read the mount table; reconciling volumes later");
      return false;
    }
    const pod = this.refreshed.get(uid);
    if (pod === undefined) return true;
    const isLeft = !this.desired.has(uid) && this.actual.hasLeft(uid);
    const volumes = usedVolumes(pod).flatMap((volume) => {
      const plugin = this.pluginOf(volume);
      if (plugin === undefined) return [];
      if (this.actual.has(uid, volume.name)) return [{ volume, plugin }];
      return isLeft && plugin.indirect === true ? [{ volume, plugin: takingOver(plugin, this.actual) }] : [];
    });
    return refreshVolumes({ operations: this.operations, events }, { pod, volumes }, signal);
  }

  private pluginOf(volume: Volume): VolumePlugin | undefined {
    return this.plugins.find(({ source }) => volume[source] !== undefined && volume[source] !== null);
  }

  private planned(pod: Pod): WantedVolume[] {
    const used = usedVolumes(pod);
    return used.map((volume) => {
      try {
        return { volume, plugin: this.pluginFor(pod, volume) };
      } catch (error) {
        const problem = messageOf(error);
        const missing = used.map(({ name }) => name);
        emitNotReady(this.options.events, pod, notReady(missing, [volume.name], problem, error));
        throw error;
      }
    });
  }

  private pluginFor(pod: Pod, volume: Volume): VolumePlugin {
    const plugin = this.pluginOf(volume);
    if (plugin !== undefined) {
      const unsupported = plugin.unsupported?.(volume);
      if (unsupported !== undefined) throw new UnsupportedVolumeError(pod, volume.name, unsupported);
      return checkedName(pod, volume, plugin);
    }
    const source = Object.keys(volume).find((key) => key !== "name" && volume[key] != null);
    throw new UnsupportedVolumeError(pod, volume.name, source ?? "(none)");
  }
}

/** Volumes that some container mounts, in the pod's order; upstream leaves the others alone too. */
function usedVolumes(pod: Pod): Volume[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = pod.spec;
  const used = new Set<string>();
  for (const { volumeMounts = [], volumeDevices = [] } of [...containers, ...initContainers, ...ephemeralContainers]) {
    for (const { name } of [...volumeMounts, ...volumeDevices]) used.add(name);
  }
  return volumes.filter(({ name }) => used.has(name));
}

/** A volume's name becomes a directory that is later removed. */
function checkedName(pod: Pod, volume: Volume, plugin: VolumePlugin): VolumePlugin {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(volume.name)) return plugin;
  throw new VolumeSetUpError(pod, volume.name, "the name must be lower-case letters, digits and '-', at most 63");
}
