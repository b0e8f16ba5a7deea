// Source of the assigned configuration: the files of --config and --config-dir (local-source.ts), or the ConfigMap that
// the Node object assigns (cluster-source.ts).

import type { ConfigSource } from "../../../shared/contracts/node-status.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import type { ConfigFiles } from "./config-files.js";

/** What earlier processes left in the store. */
export interface StoredConfigurations {
  /** Reference of the configuration that is recorded as assigned; undefined: the node's own files. */
  assignedConfigMap(): ConfigMapReference | undefined;
  /** The newest checkpoint of a ConfigMap that matches, the assigned one first. */
  find(matches: (reference: ConfigMapReference) => boolean): Promise<ConfigFiles | undefined>;
}

export interface ConfigurationSource {
  /** For manifests, status and messages, e.g. "files". */
  readonly name: string;
  /** Reads the current configuration of the source. Rejects with SourceReadError. */
  read(stored: StoredConfigurations): Promise<ConfigFiles>;
  /** Why the last read returned something else than the Node assigns; absent: the source is not the cluster's. */
  readonly problem?: string | undefined;
  /**
   * The node's own files, where the cluster may assign others. The node uses them when no configuration has passed its
   * trial. Rejects with SourceReadError.
   */
  readLocal?(): Promise<ConfigFiles>;
  /** The configuration that the Node assigns; absent: the source is not the cluster's. */
  assigned?(source: ConfigSource): void;
  /** Calls back whenever the source may have changed: too often is harmless, too rarely is not. */
  watch(onChange: () => void): SourceWatch;
}

export interface SourceWatch {
  /** No call back comes after this resolved. */
  stop(): Promise<void>;
}
