// The assigned configuration of a node in a cluster: the ConfigMap that its Node names replaces the file of --config.
// The drop-ins of --config-dir are merged over it. Without an assignment, the node's own files.
// Invariant: until the API server has replied, and while the assignment cannot be used, the one before it counts. So no
// value of the assignment stops changes of the node's own files. No read waits for the API server. No ConfigMap outside
// --dynamic-config-sources counts.

import type { ConfigSource } from "../../../shared/contracts/node-status.js";
import { isAllowedSource, notAllowedText } from "../../../shared/kubernetes/api/allowed-config-sources.js";
import { configMapText, type ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import { isMapOf, type ConfigFiles } from "./config-files.js";
import { SourceReadError } from "./errors.js";
import type { LocalSource } from "./local-source.js";
import type { ConfigurationSource, SourceWatch, StoredConfigurations } from "./source.js";

type FromCluster = Pick<ConfigFiles, "config" | "configMap">;

/** `found` is undefined for the node's own files. */
interface Found {
  readonly found: FromCluster | undefined;
  readonly problem?: string;
}

export class ClusterSource implements ConfigurationSource {
  readonly name = "cluster";
  private latest: ConfigSource | undefined;
  private lastProblem: string | undefined;
  private onChange: (() => void) | undefined;

  constructor(
    private readonly local: Pick<LocalSource, "read" | "readDropIns" | "watch">,
    /** The entries of --dynamic-config-sources. */
    private readonly allowed: readonly string[],
  ) {}

  /** The node-status thread's latest state. */
  assigned(source: ConfigSource): void {
    this.latest = source;
    this.onChange?.();
  }

  get problem(): string | undefined {
    return this.lastProblem;
  }

  async read(stored: StoredConfigurations): Promise<ConfigFiles> {
    const { found, problem } = await this.fromCluster(stored);
    this.lastProblem = problem;
    if (found === undefined) return await this.local.read();
    return { ...found, dropIns: await this.local.readDropIns() };
  }

  readLocal(): Promise<ConfigFiles> {
    return this.local.read();
  }

  watch(onChange: () => void): SourceWatch {
    this.onChange = onChange;
    return this.local.watch(onChange);
  }

  /** Rejects with SourceReadError. */
  private async fromCluster(stored: StoredConfigurations): Promise<Found> {
    const { latest } = this;
    if (latest === undefined) {
      return await this.previous(stored, "its checkpoint is missing; the kubelet waits for the API server");
    }
    if (latest.kind === "local") return { found: undefined };
    if (latest.kind === "config-map") {
      const { reference, text } = latest;
      if (this.allows(reference)) {
        return { found: { config: { path: configMapText(reference), text }, configMap: reference } };
      }
      return await this.previous(stored, notAllowedText(this.allowed, reference), true);
    }
    const { wanted, problem } = latest;
    // A version that the API server no longer has may be in a checkpoint.
    if (wanted?.resourceVersion !== undefined && this.allows(wanted)) {
      const found = await this.checkpoint(stored, wanted);
      if (found !== undefined) return { found };
    }
    return await this.previous(stored, problem, true);
  }

  /**
   * The assignment before the present one. `problem`: why it counts; it is an error only if `isError`, or if it cannot
   * be had.
   */
  private async previous(stored: StoredConfigurations, problem: string, isError = false): Promise<Found> {
    const reference = stored.assignedConfigMap();
    const error = isError ? { problem } : {};
    if (reference === undefined) return { found: undefined, ...error };
    if (!this.allows(reference)) {
      return { found: undefined, problem: isError ? problem : notAllowedText(this.allowed, reference) };
    }
    const found = await this.checkpoint(stored, reference);
    if (found === undefined) throw new SourceReadError(configMapText(reference), problem);
    return { found, ...error };
  }

  private allows(reference: ConfigMapReference): boolean {
    return isAllowedSource(this.allowed, reference);
  }

  private async checkpoint(
    stored: StoredConfigurations,
    reference: ConfigMapReference,
  ): Promise<FromCluster | undefined> {
    const files = await stored.find((found) => isMapOf(reference, found));
    if (files?.config === undefined || files.configMap === undefined) return undefined;
    return { config: files.config, configMap: files.configMap };
  }
}
