// The manifests that clients sent to the manifest API, as a source of pods (docs/manifest-api.md).
// Invariant: a manifest is on the disk before its pod is delivered; a request changes all its manifests or none;
// requests change the set one after the other; nothing is delivered before every manifest on the disk was read or
// refused.

import { Lifetime } from "../../../../shared/base/abort/lifetime.js";
import { Scope } from "../../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { KeyedSerializer } from "../../../../shared/base/turns/keyed-serializer.js";
import {
  MANIFESTS_LIMIT,
  type ManifestCall,
  type ManifestName,
  type ManifestReply,
} from "../../../../shared/contracts/manifests.js";
import type { DecodeSubmittedResult, SubmittedPod } from "../../../../shared/contracts/tasks.js";
import { DiskFullError } from "../../../../shared/io/fs/atomic-write.js";
import { ManifestError, warningText } from "../../../../shared/kubernetes/api/manifest/violation.js";
import { podFullName } from "../../../../shared/kubernetes/api/pod.js";
import { staticPodName } from "../../../../shared/kubernetes/api/static-pod-name.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { refusalOf, unreadable, type ManifestState, type Refusal } from "../manifest-state.js";
import type { PodChanges } from "../pod-changes.js";
import { refusedByCondition, refusedWithoutCondition } from "./conditions.js";
import { DecodeRefusedError, SubmittedDecoder, type DecoderOptions } from "./decoder.js";
import { keptManifest, keyOf, type Entry } from "./entry.js";
import { ManifestFiles, type FileOfManifest } from "./manifest-files.js";
import { badRequest, conflict, invalid, notFound, RefusedError, unavailable } from "./refusals.js";
import { checkSize, checkUids } from "./set-rules.js";

const RETRY_MS = 20_000;
/** Longest wait of a request, ms, for the manifests on disk and the decoding of its own. */
const PATIENCE_MS = 90_000;

export interface SubmittedSourceOptions extends DecoderOptions {
  /** Folder of the manifest files; made with the first manifest. */
  folder: string;
  clock: Clock;
  log: Logger;
  /** Gets the whole set, after every change. */
  changes: Pick<PodChanges, "deliver" | "set">;
  /** What `manifests` returns has changed. */
  onManifests: () => void;
  /** Shortens the termination of the static pod of this name. Returns false if no such pod is being terminated. */
  shorten: (fullName: string, graceSeconds: number) => boolean;
}

type Written = Extract<ManifestReply, { ok: true }>;

export class SubmittedSource {
  private entries = new Map<string, Entry>();
  private next = 1;
  private readonly files: ManifestFiles;
  private readonly decoder: SubmittedDecoder;
  private readonly turns = new KeyedSerializer();
  private readonly lifetime = new Lifetime();
  private loaded: Promise<void> | undefined;

  constructor(private readonly options: SubmittedSourceOptions) {
    const { folder, clock, log } = options;
    this.files = new ManifestFiles(folder, clock, log);
    this.decoder = new SubmittedDecoder(options);
  }

  start(): void {
    this.loaded ??= this.load();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.loaded;
    await this.turns.run("write", () => Promise.resolve());
  }

  /** Warnings are in the responses to the clients: an accepted manifest is kept without what was ignored of it. */
  *manifests(): Iterable<ManifestState> {
    for (const [origin, { pod, refused }] of this.entries) {
      yield { origin, source: "manifest-api", pods: pod === undefined ? [] : [pod], refused, warnings: [] };
    }
  }

  /** Never rejects. */
  async handle(call: ManifestCall): Promise<ManifestReply> {
    const { clock, log } = this.options;
    const late = new RefusedError(unavailable(`the manifest could not be handled within ${PATIENCE_MS / 1000} s`));
    using scope = new Scope(this.lifetime.signal).limit(clock, PATIENCE_MS, () => late);
    try {
      await unlessAborted(this.loaded ?? Promise.resolve(), scope.signal);
      return await this.answer(call, scope.signal);
    } catch (error) {
      if (error instanceof RefusedError) return { ok: false, refusal: error.refusal };
      if (error instanceof DecodeRefusedError) return { ok: false, refusal: error.refusal };
      if (error instanceof DiskFullError) {
        return { ok: false, refusal: { code: 507, reason: "InsufficientStorage", message: error.message } };
      }
      log.error({ err: error, op: call.op }, `manifest API: ${call.op} failed: ${messageOf(error)}`);
      return { ok: false, refusal: { code: 500, reason: "InternalError", message: messageOf(error) } };
    }
  }

  private async answer(call: ManifestCall, signal: AbortSignal): Promise<ManifestReply> {
    switch (call.op) {
      case "list":
        return this.reply(call.of === undefined ? [...this.entries.values()] : [this.existing(call.of)]);
      case "create": {
        const decoded = await this.decode(call.body, "default", signal);
        return await this.turns.run("write", () => this.create(decoded, call.dryRun));
      }
      case "replace": {
        const decoded = await this.decode(call.body, call.of.namespace, signal);
        return await this.turns.run("write", () => this.replace(call, decoded));
      }
      case "delete":
        return await this.turns.run("write", () => this.remove(call));
    }
  }

  /** Throws RefusedError or DecodeRefusedError. */
  private async decode(body: Uint8Array, namespace: string, signal: AbortSignal): Promise<DecodeSubmittedResult> {
    const decoded = await this.decoder.decode(body, namespace, signal);
    if (decoded.error !== undefined) {
      throw new RefusedError({ ...invalid(decoded.error), warnings: decoded.warnings.map(sentenceOf) });
    }
    if (decoded.pods.length === 0) throw new RefusedError(badRequest("the request's body has no pod"));
    const seen = new Set<string>();
    for (const one of decoded.pods) {
      const key = keyOf(one);
      if (seen.has(key)) throw new RefusedError(badRequest(`the request's body has manifest ${key} twice`));
      seen.add(key);
    }
    return decoded;
  }

  private async create({ pods, warnings }: DecodeSubmittedResult, dryRun: boolean): Promise<Written> {
    const there = pods.filter((one) => this.entries.has(keyOf(one))).map(keyOf);
    if (there.length > 0) {
      const verb = there.length === 1 ? "exists" : "exist";
      const remedy = "change it with PUT; no manifest of this request was kept";
      throw new RefusedError(conflict("AlreadyExists", `manifest ${there.join(", ")} ${verb} already: ${remedy}`));
    }
    if (this.entries.size + pods.length > MANIFESTS_LIMIT) {
      const message = `a node keeps at most ${MANIFESTS_LIMIT} manifests and has ${this.entries.size}: delete some`;
      throw new RefusedError({ code: 403, reason: "Forbidden", message });
    }
    return await this.write(pods, warnings, dryRun);
  }

  private async replace(
    { of, condition, dryRun }: Extract<ManifestCall, { op: "replace" }>,
    { pods, warnings }: DecodeSubmittedResult,
  ): Promise<Written> {
    const [one, another] = pods;
    if (one === undefined || another !== undefined) {
      throw new RefusedError(badRequest(`PUT takes one pod, not ${pods.length}; POST /manifests/ takes many`));
    }
    if (keyOf(one) !== keyOf(of)) {
      throw new RefusedError(badRequest(`the body has manifest ${keyOf(one)}, the path ${keyOf(of)}`));
    }
    const current = this.entries.get(keyOf(of));
    const version = current === undefined ? undefined : String(current.version);
    const refusal =
      refusedByCondition(condition, version, of) ??
      (version === undefined ? undefined : refusedWithoutCondition(condition, version, of));
    if (refusal !== undefined) throw new RefusedError(refusal);
    if (current === undefined) return await this.create({ pods, warnings }, dryRun);
    // An equal manifest is no new version: a client may repeat its request.
    const same = current.metadata === one.metadata && current.spec === one.spec && current.pod !== undefined;
    return same ? this.reply([current], { warnings: this.warn(warnings) }) : this.write(pods, warnings, dryRun);
  }

  private async remove(call: Extract<ManifestCall, { op: "delete" }>): Promise<Written> {
    const { of, condition, dryRun, gracePeriodSeconds } = call;
    const { nodeName, shorten } = this.options;
    const pod = { namespace: of.namespace, name: staticPodName(of.name, nodeName) };
    const hastenTermination = (): boolean =>
      gracePeriodSeconds !== undefined && !dryRun && shorten(podFullName({ metadata: pod }), gracePeriodSeconds);
    // Its manifest was deleted before, and the pod still terminates.
    if (!this.entries.has(keyOf(of)) && condition.ifMatch === undefined && hastenTermination()) return this.reply([]);
    const entry = this.existing(of);
    const refusal = refusedByCondition(condition, String(entry.version), of);
    if (refusal !== undefined) throw new RefusedError(refusal);
    if (!dryRun) {
      const after = new Map(this.entries);
      after.delete(keyOf(of));
      await this.commit(after, this.next + 1, [], () => this.setGrace(entry, gracePeriodSeconds));
      // A pod of an earlier version may be what still terminates under this name.
      hastenTermination();
      this.options.log.info({ manifest: keyOf(of) }, `manifest ${keyOf(of)} was deleted; terminating its pod`);
    }
    return this.reply([entry]);
  }

  /** The worker takes the grace period from the pod's definition, as for a deletion in the API. */
  private setGrace({ pod }: Entry, deletionGracePeriodSeconds: number | undefined): void {
    if (pod === undefined || deletionGracePeriodSeconds === undefined) return;
    this.options.changes.set("submitted", { ...pod, metadata: { ...pod.metadata, deletionGracePeriodSeconds } });
  }

  /** Creates the manifests, or replaces those of their names. */
  private async write(
    pods: readonly SubmittedPod[],
    warnings: DecodeSubmittedResult["warnings"],
    dryRun: boolean,
  ): Promise<Written> {
    const { clock, log } = this.options;
    const after = new Map(this.entries);
    const written = pods.map(({ namespace, name, metadata, spec, pod }, index): Entry => {
      const before = this.entries.get(keyOf({ namespace, name }));
      const createdAt = before?.createdAt ?? clock.now();
      return { version: this.next + index, createdAt, namespace, name, metadata, spec, pod };
    });
    for (const entry of written) after.set(keyOf(entry), entry);
    checkUids(after.values());
    checkSize(after.values());
    const sentences = this.warn(warnings);
    const created = written.some((entry) => !this.entries.has(keyOf(entry)));
    if (dryRun) return this.reply(written, { created, warnings: sentences });
    const texts = written.map(({ version, metadata, spec }) => ({ version, text: fileText(metadata, spec) }));
    const before = this.entries;
    await this.commit(after, this.next + written.length, texts);
    for (const entry of written) {
      const verb = before.has(keyOf(entry)) ? "replaced" : "created";
      log.info({ manifest: keyOf(entry), version: entry.version }, `manifest ${keyOf(entry)} was ${verb}`);
    }
    return this.reply(written, { created, warnings: sentences });
  }

  private async commit(
    after: Map<string, Entry>,
    next: number,
    added: readonly { version: number; text: string }[],
    beforeDelivery: () => void = () => undefined,
  ): Promise<void> {
    const files = [...after.values()].map(({ version, createdAt, namespace, name }) => ({
      version,
      createdAt,
      namespace,
      name,
    }));
    await this.files.commit({ next, files }, added);
    const kept = new Set(files.map(({ version }) => version));
    const old = [...this.entries.values()].map(({ version }) => version).filter((version) => !kept.has(version));
    this.entries = after;
    this.next = next;
    beforeDelivery();
    this.deliver();
    await this.files.remove(old);
  }

  private deliver(): void {
    this.options.changes.deliver(
      "submitted",
      [...this.entries.values()].flatMap(({ pod }) => pod ?? []),
      true,
    );
    this.options.onManifests();
  }

  private async load(): Promise<void> {
    const { clock, log, folder } = this.options;
    for (;;) {
      try {
        const { next, files } = await this.files.load();
        const entries = await Promise.all(files.map((file) => this.loadOne(file)));
        this.next = next;
        for (const entry of entries) if (entry.name !== "") this.entries.set(keyOf(entry), entry);
        this.deliver();
        return;
      } catch (error) {
        if (this.lifetime.hasEnded) return;
        log.error(
          { err: error, folder },
          `cannot read the manifests in ${folder}: ${messageOf(error)}; their pods stay as they are; trying again`,
        );
      }
      await clock.sleep(RETRY_MS, this.lifetime.signal).catch(() => undefined);
      if (this.isStopped()) return;
    }
  }

  private isStopped(): boolean {
    return this.lifetime.hasEnded;
  }

  /** Rejects only when the kubelet stops. A manifest that cannot run stays, with its problem. */
  private async loadOne(file: FileOfManifest): Promise<Entry> {
    const { log, clock } = this.options;
    let problem: string;
    let refused: Refusal;
    try {
      const { pods, error } = await this.decoder.decodeKept(await this.files.read(file.version), this.lifetime.signal);
      const [one] = pods;
      if (one !== undefined) return { ...file, ...one };
      const refusal = new ManifestError(keyOf(file), error ?? []);
      problem = refusal.message;
      refused = refusalOf(refusal, [], clock.now());
    } catch (error) {
      this.lifetime.signal.throwIfAborted();
      problem = messageOf(error);
      refused = unreadable(problem, clock.now());
    }
    log.error({ manifest: keyOf(file) }, `${problem}; its pod does not run; send the manifest again, or delete it`);
    const { namespace, name } = file;
    return { ...file, metadata: JSON.stringify({ name, namespace }), spec: "{}", problem, refused };
  }

  private existing(of: ManifestName): Entry {
    const entry = this.entries.get(keyOf(of));
    if (entry === undefined) throw new RefusedError(notFound(of));
    return entry;
  }

  private warn(warnings: DecodeSubmittedResult["warnings"]): string[] {
    const sentences = warnings.map(sentenceOf);
    for (const sentence of sentences) this.options.log.warn(sentence);
    return sentences;
  }

  private reply(entries: readonly Entry[], more: Partial<Pick<Written, "created" | "warnings">> = {}): Written {
    return {
      ok: true,
      manifests: entries.map(keptManifest),
      created: false,
      resourceVersion: String(this.next - 1),
      warnings: [],
      ...more,
    };
  }
}

function fileText(metadata: string, spec: string): string {
  return `{"apiVersion":"v1","kind":"Pod","metadata":${metadata},"spec":${spec}}\n`;
}

function sentenceOf(warning: DecodeSubmittedResult["warnings"][number]): string {
  return warningText("in the request's body", warning);
}
