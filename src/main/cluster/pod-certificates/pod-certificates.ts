// Pod certificates (gate PodCertificateRequest): one credential per podCertificate source, and one watch of this node's
// requests for all of them. Loaded with the first pod that has such a source.
// Invariant: keys are in memory and in the pod's volume only; no state of a removed pod is kept; no request is watched
// without such a pod.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { MakePodKeyResult, PodKey } from "../../../shared/contracts/tasks.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { PodCertificateRequest } from "../../../shared/kubernetes/api/objects.js";
import { isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodCertificateProjection } from "../../../shared/kubernetes/api/volume.js";
import { type PodUid, podUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { PodCertificates, PodCertificateSource, PodCredential } from "../../model/cluster-access.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { Follow } from "../watching.js";
import { PodCertificateError } from "./errors.js";
import { watchPodCertificates, type PodCertificateState } from "./metrics.js";
import { RequestKinds } from "./request-kinds.js";
import { SourceCredential } from "./source-credential.js";

export interface PodCertificatesDeps {
  client: Pick<ApiClient, "get" | "create">;
  follow: Follow;
  nodeName: string;
  node(): Node | undefined;
  /** Not on this thread. */
  makeKey(keyType: string): Promise<MakePodKeyResult>;
  /** The pod's volumes must be refreshed. */
  onChange(uid: PodUid): void;
  events: Pick<EventRecorder, "pod">;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** 0 to 1. */
  random?: () => number;
}

export class NodePodCertificates implements PodCertificates {
  /** By pod, then "volume/index". */
  private readonly pods = new Map<PodUid, Map<string, SourceCredential>>();
  private readonly kinds = new RequestKinds();
  private followed: { version: string; stop: () => void } | undefined;
  /** RSA keys take seconds, and are made one after the other: the pool has other work. */
  private lastKey: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: PodCertificatesDeps) {
    watchPodCertificates(deps.registry, () => this.states());
  }

  /** Idempotent; called again when the pod's definition changes. The API server certifies nothing to static pods. */
  wanted(pod: Pod): void {
    if (isStaticPod(pod)) return;
    const { client, nodeName, events, clock, log, random = Math.random } = this.deps;
    const { uid } = pod.metadata;
    const credentials = this.pods.get(uid) ?? new Map<string, SourceCredential>();
    this.pods.set(uid, credentials);
    for (const [key, source] of sourcesOf(pod)) {
      const known = credentials.get(key);
      if (known !== undefined) {
        known.update(pod);
        continue;
      }
      // A terminating pod requests no certificate.
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      const credential = new SourceCredential(pod, source, key, {
        client,
        nodeName,
        kinds: this.kinds,
        node: () => this.deps.node(),
        events,
        clock,
        log,
        makeKey: (keyType) => this.makeKey(keyType),
        onAsked: () => this.follow(),
        onChange: () => this.changed(uid),
        random,
      });
      credentials.set(key, credential);
      credential.start();
    }
  }

  podRemoved(uid: PodUid): void {
    for (const credential of this.pods.get(uid)?.values() ?? []) credential.stop();
    this.pods.delete(uid);
    if (this.pods.size > 0) return;
    this.unfollow();
  }

  async get({ pod, volume, index }: PodCertificateSource, signal: AbortSignal): Promise<PodCredential> {
    if (isStaticPod(pod)) throw new PodCertificateError("a static pod can't have a podCertificate: no signer knows it");
    const credential = this.pods.get(pod.metadata.uid)?.get(keyOf(volume, index));
    if (credential !== undefined) return credential.get(signal);
    throw new PodCertificateError(`no credentials yet for source ${index} of volume ${volume}`);
  }

  stop(): void {
    for (const uid of [...this.pods.keys()]) this.podRemoved(uid);
  }

  private unfollow(): void {
    this.followed?.stop();
    this.followed = undefined;
  }

  /** Watches the version that the API server has now. */
  private follow(): void {
    const kind = this.kinds.latest;
    if (kind === undefined || this.followed?.version === kind.version) return;
    this.unfollow();
    const stop = this.deps.follow<PodCertificateRequest>({
      kind,
      fieldSelector: `spec.nodeName=${this.deps.nodeName}`,
      onReplace: (requests) => {
        // A request that is missing here may be newer than the list: its waiter has a deadline.
        for (const request of requests) this.onRequest(request, false);
      },
      onEvent: ({ type, object }) => this.onRequest(object, type === "DELETED"),
    });
    this.followed = { version: kind.version, stop };
  }

  private onRequest(request: PodCertificateRequest, deleted: boolean): void {
    const { namespace = "", name = "" } = request.metadata;
    for (const credential of this.pods.get(podUid(request.spec.podUID))?.values() ?? []) {
      credential.onRequest(`${namespace}/${name}`, request, deleted);
    }
  }

  /** Reports a pod whose sources have no pending first certificate, or one of whose sources was refused. */
  private changed(uid: PodUid): void {
    const states = [...(this.pods.get(uid)?.values() ?? [])].map((credential) => credential.stateName());
    const isRefused = states.includes("denied") || states.includes("failed");
    if (isRefused || !states.includes("not_yet_issued")) this.deps.onChange(uid);
  }

  private async makeKey(keyType: string): Promise<PodKey> {
    const isSlow = keyType.startsWith("RSA");
    const made = isSlow ? this.lastKey.then(() => this.deps.makeKey(keyType)) : this.deps.makeKey(keyType);
    if (isSlow) this.lastKey = made.catch(() => undefined);
    const key = await made;
    if (key === undefined) throw new PodCertificateError(`unknown key type ${quote(keyType)}`);
    return key;
  }

  private *states(): Generator<{ signerName: string; state: PodCertificateState }> {
    for (const credentials of this.pods.values()) {
      for (const credential of credentials.values()) {
        yield { signerName: credential.source.signerName, state: credential.stateName() };
      }
    }
  }
}

function keyOf(volume: string, index: number): string {
  return `${volume}/${index}`;
}

function* sourcesOf({ spec }: Pod): Generator<[string, PodCertificateProjection]> {
  for (const { name, projected } of spec.volumes ?? []) {
    for (const [index, { podCertificate }] of (projected?.sources ?? []).entries()) {
      if (podCertificate !== undefined) yield [keyOf(name, index), podCertificate];
    }
  }
}
