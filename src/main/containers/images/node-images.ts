// The puller of a node, put together from its settings.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { AgentFlags } from "../../command/agent-flags.js";
import type { ImageSettings } from "../../command/views/images.js";
import type { ResourceSettings } from "../../command/views/resources.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { PodTrace } from "../../model/pod-trace.js";
import { openAccess, type ImageAccess } from "./image-access.js";
import { ImagePuller } from "./image-puller.js";
import { ClusterPullSecrets } from "./keyring/cluster-pull-secrets.js";
import { KeyringCredentials, type ProviderCredentials } from "./keyring/keyring-credentials.js";
import { NodeCredentialFiles } from "./keyring/node-files.js";
import { standalonePullSecrets } from "./keyring/pull-secrets.js";
import { imageMetrics } from "./metrics.js";
import { PullRate } from "./pull-limits.js";
import { pullRecordMetrics } from "./pull-records/metrics.js";
import { RecordedAccess } from "./pull-records/recorded-access.js";
import { verificationPolicy } from "./pull-records/verification-policy.js";
import { PullTurns } from "./pull-turns.js";
import { Pulls } from "./pulls.js";

export type NodeImageSettings = Pick<
  ImageSettings,
  | "serializeImagePulls"
  | "maxParallelImagePulls"
  | "registryPullQPS"
  | "registryBurst"
  | "kubeletEnsureSecretPulledImages"
  | "imagePullCredentialsVerificationPolicy"
  | "preloadedImagesVerificationAllowlist"
  | "runtimeClassInImageCriApi"
> &
  Pick<AgentFlags, "rootDir"> &
  Pick<ResourceSettings, "maxPods">;

export interface NodeImagesDeps {
  cri: Pick<CriClient, "imageStatus" | "listImages" | "pullImage">;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  trace: PodTrace;
  registry: ThreadRegistry;
  /** Asked after the node's own files. */
  providers?: ProviderCredentials | undefined;
  /** Absent on a stand-alone node. */
  cluster?: ClusterAccess | undefined;
  /** Asked with the gate RuntimeClassInImageCriApi. */
  runtimeHandler: (pod: Pod, signal: AbortSignal) => Promise<string>;
}

/** Upstream's value. */
const RECORDS_PER_POD = 5;

export function nodeImages(settings: NodeImageSettings, deps: NodeImagesDeps): ImagePuller {
  const { cri, clock, events, trace, registry, cluster } = deps;
  const log = moduleLogger(deps.log, "images");
  const places = { rootDir: settings.rootDir, workingDir: process.cwd(), home: process.env["HOME"] ?? "" };
  const loop = new LoopShare(clock);
  const files = new NodeCredentialFiles(places, log);
  const secrets = cluster === undefined ? standalonePullSecrets : new ClusterPullSecrets({ cluster, log, loop });
  const credentials = new KeyringCredentials({ secrets, files, providers: deps.providers, events, loop });
  const access = accessOf(settings, { cri, clock, log, registry });
  const turns = new PullTurns(settings.serializeImagePulls ? 1 : settings.maxParallelImagePulls);
  const rate = new PullRate(settings.registryPullQPS, settings.registryBurst, clock);
  const pulls = new Pulls({ cri, clock, log, turns, rate, credentials, access });
  const handlerOf = settings.runtimeClassInImageCriApi ? deps.runtimeHandler : () => Promise.resolve("");
  const metrics = imageMetrics(registry);
  return new ImagePuller({ cri, clock, events, trace, pulls, access, credentials, metrics, handlerOf });
}

function accessOf(
  settings: NodeImageSettings,
  { cri, clock, log, registry }: Pick<NodeImagesDeps, "cri" | "clock" | "log" | "registry">,
): ImageAccess {
  if (!settings.kubeletEnsureSecretPulledImages) return openAccess;
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: allowlist } = settings;
  return new RecordedAccess({
    rootDir: settings.rootDir,
    needsProof: verificationPolicy(policy, allowlist),
    recordsInMemory: RECORDS_PER_POD * settings.maxPods,
    cri,
    clock,
    log,
    metrics: pullRecordMetrics(registry),
  });
}
