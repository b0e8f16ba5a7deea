// The state of the node's dynamic configurations: the store, the active configuration, the status to report. Start-up
// (prepare.ts) fills it, the follower (follow.ts) changes it.
// Invariant: `active` is the configuration that the kubelet runs with, even if the disk holds another; a failed write
// is logged, not fatal.

import { join, resolve } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { ConfigSource } from "../../../shared/contracts/node-status.js";
import type { ConfigurationFacts } from "../../../shared/contracts/nodelet.js";
import { isAllowedSource } from "../../../shared/kubernetes/api/allowed-config-sources.js";
import { configMapText, type NodeConfigReport } from "../../../shared/kubernetes/api/config-source.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeConfiguration } from "../../model/node-configuration.js";
import { Checkpoints } from "./checkpoints.js";
import { shortDigest, type ConfigFiles, type Validation } from "./config-files.js";
import { dynamicConfigDirError } from "./errors.js";
import { MetaStore, type Pointer } from "./meta.js";
import type { ConfigurationSource, StoredConfigurations } from "./source.js";
import { StatusFile, type ConfigReference, type DynamicConfigStatus } from "./status.js";

/** Upstream's reason for a kubelet about to restart into another configuration. */
export const CHANGED_REASON = "KubeletConfigChanged";
/** A configuration was refused, or failed and was left again. */
const ERROR_REASON = "NodeConfigError";

export interface ConfigEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: typeof CHANGED_REASON | typeof ERROR_REASON;
  readonly message: string;
}

export interface DynamicConfigOptions {
  /** Value of --dynamic-config-dir. */
  readonly directory: string;
  readonly source: ConfigurationSource;
  /** Entries of --dynamic-config-sources: the kubelet uses no checkpoint of another ConfigMap. */
  readonly allowedSources: readonly string[];
  /** Everything the start would complain about. May be slow, must not block the thread. */
  readonly validate: (files: ConfigFiles) => Promise<Validation>;
  /** An event about the node. */
  readonly record: (event: ConfigEvent) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Active {
  readonly digest: string;
  readonly files: ConfigFiles;
}

export class DynamicConfig implements StoredConfigurations, NodeConfiguration {
  readonly meta: MetaStore;
  readonly checkpoints: Checkpoints;
  private readonly statusFile: StatusFile;
  /** At start the function of the options; while the kubelet runs, one that does not block it. */
  validate: DynamicConfigOptions["validate"];
  private running: Active | undefined;
  /** Why the kubelet does not run what the source offers; undefined: it does. */
  private failure: string | undefined;
  private error: string | undefined;
  /** Called at each change of the status. */
  private readonly listeners = new Set<(report: NodeConfigReport) => void>();
  /** Events before the node can record them. */
  private early: ConfigEvent[] | undefined = [];
  private record: DynamicConfigOptions["record"];

  constructor(readonly options: DynamicConfigOptions) {
    const store = join(resolve(options.directory), "store");
    const { clock, log } = options;
    this.validate = options.validate;
    this.record = options.record;
    this.meta = new MetaStore(join(store, "meta"), clock, log);
    this.checkpoints = new Checkpoints(join(store, "checkpoints"), clock, log);
    this.statusFile = new StatusFile(join(store, "meta", "status.json"), log);
  }

  /** The running configuration; undefined when it reads the source's files as without dynamic configuration. */
  get active(): Active | undefined {
    return this.running;
  }

  /** The texts to read settings from; undefined: read the files of the command line. */
  get files(): ConfigFiles | undefined {
    return this.running?.files;
  }

  /** Rejects with OperatorError. */
  async open(): Promise<void> {
    try {
      await this.meta.load();
      await this.checkpoints.open();
    } catch (error) {
      throw dynamicConfigDirError(this.options.directory, error);
    }
  }

  /** The configuration of the store with this digest, if the kubelet may use it. */
  async checkpoint(digest: string): Promise<ConfigFiles | undefined> {
    const files = await this.checkpoints.load(digest);
    const { allowedSources } = this.options;
    return files?.configMap === undefined || isAllowedSource(allowedSources, files.configMap) ? files : undefined;
  }

  /** The current configuration of the source. Rejects with SourceReadError. */
  read(): Promise<ConfigFiles> {
    return this.options.source.read(this);
  }

  /** A source that is not the cluster's has no assignment. */
  assigned(source: ConfigSource): void {
    this.options.source.assigned?.(source);
  }

  assignedConfigMap(): Pointer["configMap"] {
    return this.meta.get("assigned")?.configMap;
  }

  async find(matches: Parameters<Checkpoints["find"]>[0]): Promise<ConfigFiles | undefined> {
    const digest = this.meta.get("assigned")?.digest;
    const assigned = digest === undefined ? undefined : await this.checkpoints.load(digest);
    if (assigned?.configMap !== undefined && matches(assigned.configMap)) return assigned;
    return await this.checkpoints.find(matches);
  }

  /** Events go there from now on, those of the start first. */
  recordWith(record: DynamicConfigOptions["record"]): void {
    this.record = record;
    for (const event of this.early ?? []) record(event);
    this.early = undefined;
  }

  event(event: ConfigEvent): void {
    this.early?.push(event);
    this.record(event);
  }

  nodeReport(): NodeConfigReport {
    const configMap = (name: "assigned" | "last-known-good"): Pointer["configMap"] => this.meta.get(name)?.configMap;
    const [assigned, active, lastKnownGood] = [
      configMap("assigned"),
      this.running?.files.configMap,
      configMap("last-known-good"),
    ];
    const { error } = this;
    const good = this.meta.get("last-known-good")?.digest;
    return omitUndefined({
      assigned,
      active,
      lastKnownGood,
      activeIsGood: good !== undefined && good === this.running?.digest,
      error,
    });
  }

  /** Calls the listener now and at each change. Returns a function that stops it. */
  onReport(listener: (report: NodeConfigReport) => void): () => void {
    this.listeners.add(listener);
    listener(this.nodeReport());
    return () => this.listeners.delete(listener);
  }

  facts(): ConfigurationFacts {
    const { assigned, active, lastKnownGood, error } = this.nodeReport();
    const name = (reference: typeof active): string => (reference ? configMapText(reference) : "local files");
    return omitUndefined({
      assigned: name(assigned),
      active: name(active),
      lastKnownGood: this.meta.get("last-known-good") !== undefined ? name(lastKnownGood) : undefined,
      onTrial: this.running !== undefined && this.meta.get("trial")?.digest === this.running.digest,
      error,
    });
  }

  status(): DynamicConfigStatus {
    const assigned = this.meta.get("assigned");
    const good = this.meta.get("last-known-good");
    return omitUndefined({
      assigned: assigned === undefined ? undefined : reference(assigned),
      active: this.running === undefined ? undefined : this.activeReference(this.running),
      lastKnownGood: good === undefined ? undefined : reference(good),
      error: this.error,
    });
  }

  /** The kubelet runs with this from now on. */
  async activate(active: Active | undefined): Promise<void> {
    this.running = active;
    await this.attempt("record the running configuration", () =>
      active === undefined
        ? this.meta.set("current", undefined)
        : this.meta.point("current", active.digest, active.files.configMap),
    );
    this.publish();
  }

  get hasFailed(): boolean {
    return this.failure !== undefined;
  }

  /** The source was read again: its problem may have changed. */
  reportSource(): void {
    if (this.currentError() !== this.error) this.report(this.failure);
  }

  /**
   * Sets or clears the failure. The error in the status is the source's problem and the failure; a new one is logged
   * and an event.
   */
  report(failure: string | undefined): void {
    this.failure = failure;
    const error = this.currentError();
    const isNews = error !== undefined && error !== this.error;
    this.error = error;
    if (isNews) {
      this.options.log.error({}, error);
      this.event({ type: "Warning", reason: ERROR_REASON, message: error });
    }
    this.publish();
  }

  /** The configuration on trial failed in a way that only another one can help: the next start leaves it. */
  async trialFailed(digest: string, failure: string): Promise<void> {
    const trial = this.meta.get("trial");
    if (trial?.digest !== digest) return;
    await this.attempt("record the failed trial", () => this.meta.set("trial", { ...trial, failure }));
  }

  /**
   * The start under the active configuration failed. Call it before the process exits with an error that the
   * configuration may have caused. Without effect on one that passed its trial before.
   */
  async startFailed(failure: string): Promise<void> {
    if (this.running !== undefined) await this.trialFailed(this.running.digest, failure);
    await this.flush();
  }

  /** The configuration of this digest passed its trial. */
  async trialPassed(digest: string): Promise<void> {
    if (this.meta.get("trial")?.digest !== digest) return;
    const noted = await this.attempt("record the last known good configuration", async () => {
      const isActive = this.running?.digest === digest;
      await this.meta.point("last-known-good", digest, isActive ? this.running?.files.configMap : undefined);
      await this.meta.set("trial", undefined);
    });
    if (noted) this.options.log.info({}, `configuration ${shortDigest(digest)} passed its trial`);
    this.publish();
    await this.prune();
  }

  /** An orderly exit after the kubelet was healthy does not count as a failed start. */
  async endedInOrder(): Promise<void> {
    const trial = this.meta.get("trial");
    if (trial === undefined || trial.digest !== this.running?.digest) return;
    await this.attempt("record the orderly stop", () =>
      this.meta.set("trial", { ...trial, starts: Math.max(0, trial.starts - 1) }),
    );
  }

  /** Deletes checkpoints that are neither assigned, last known good nor active. */
  async prune(): Promise<void> {
    const { meta } = this;
    const used = [meta.get("assigned"), meta.get("last-known-good"), meta.get("current")];
    const keep = new Set(used.flatMap((pointer) => (pointer === undefined ? [] : [pointer.digest])));
    if (this.running !== undefined) keep.add(this.running.digest);
    await this.attempt("delete old checkpoints", () => this.checkpoints.prune(keep));
  }

  /** Runs a write whose failure is logged and survived. @returns whether it succeeded */
  async attempt(what: string, write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      this.options.log.error({ err: error }, `dynamic configuration cannot ${what}: ${messageOf(error)}`);
      return false;
    }
  }

  publish(): void {
    this.statusFile.put(this.status());
    const report = this.nodeReport();
    for (const listener of this.listeners) listener(report);
  }

  /** Resolves when the status file is as it should be. */
  async flush(): Promise<void> {
    await this.statusFile.flush();
  }

  private currentError(): string | undefined {
    const both = [this.options.source.problem, this.failure].filter((text) => text !== undefined);
    return both.length === 0 ? undefined : both.join("; ");
  }

  private activeReference({ digest, files }: Active): ConfigReference {
    const current = this.meta.get("current");
    return current?.digest === digest
      ? reference(current)
      : omitUndefined({ digest, since: this.meta.time(), configMap: files.configMap ? files.configMap : undefined });
  }
}

function reference({ digest, since, configMap }: ConfigReference): ConfigReference {
  return omitUndefined({ digest, since, configMap });
}
