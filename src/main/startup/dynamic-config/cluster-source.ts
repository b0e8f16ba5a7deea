// The assigned configuration of a node in a cluster: the ConfigMap that its Node names replaces the file of --config. The drop-ins of
// --config-dir are merged over it. Without an assignment, the node's own files.
// Invariant: until the API server has replied, the assignment of the previous process counts. No read waits for the API server.
import { configMapText, type ConfigMapReference } from "../../../shared/api/config-source.js";
import type { ConfigSource } from "../../../shared/contracts/node-status.js";
import { isMapOf, type ConfigFiles } from "./config-files.js";
import { SourceReadError } from "./errors.js";
import type { LocalSource } from "./local-source.js";
import type { ConfigurationSource, SourceWatch, StoredConfigurations } from "./source.js";

export class ClusterSource implements ConfigurationSource {
  readonly name = "cluster";
  private latest: ConfigSource | undefined;
  private onChange: (() => void) | undefined;

  constructor(private readonly local: Pick<LocalSource, "read" | "readDropIns" | "watch">) {}

  /** The node-status thread's latest state. */
  assigned(source: ConfigSource): void {
    this.latest = source;
    this.onChange?.();
  }

  async read(stored: StoredConfigurations): Promise<ConfigFiles> {
    const found = await this.fromCluster(stored);
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

  /** undefined: the Node assigns none. Rejects with SourceReadError. */
  private async fromCluster(
    stored: StoredConfigurations,
  ): Promise<Pick<ConfigFiles, "config" | "configMap"> | undefined> {
    const { latest } = this;
    if (latest === undefined) {
      const reference = stored.assignedConfigMap();
      if (reference === undefined) return undefined;
      return await this.kept(stored, reference, "its checkpoint is missing; the kubelet waits for the API server");
    }
    if (latest.kind === "local") return undefined;
    if (latest.kind === "config-map") {
      return { config: { path: configMapText(latest.reference), text: latest.text }, configMap: latest.reference };
    }
    const { wanted, problem } = latest;
    // A version that the API server no longer has may be in a checkpoint.
    if (wanted?.resourceVersion !== undefined) return await this.kept(stored, wanted, problem);
    throw new SourceReadError(wanted === undefined ? "the assigned configuration" : configMapText(wanted), problem);
  }

  private async kept(
    stored: StoredConfigurations,
    reference: ConfigMapReference,
    problem: string,
  ): Promise<Pick<ConfigFiles, "config" | "configMap">> {
    const files = await stored.find((found) => isMapOf(reference, found));
    if (files?.config === undefined || files.configMap === undefined) {
      throw new SourceReadError(configMapText(reference), problem);
    }
    return { config: files.config, configMap: files.configMap };
  }
}
