// Source of the assigned configuration. Today the files of --config and --config-dir; a source that reads a ConfigMap
// named by the Node object fits the same interface.
import type { ConfigFiles } from "./config-files.js";

export interface ConfigurationSource {
  /** For manifests, status and messages, e.g. "files". */
  readonly name: string;
  /** Reads the current files of the source. Rejects with SourceReadError. */
  read(): Promise<ConfigFiles>;
  /** Calls back whenever the source may have changed: too often is harmless, too rarely is not. */
  watch(onChange: () => void): SourceWatch;
}

export interface SourceWatch {
  /** No call back comes after this resolved. */
  stop(): Promise<void>;
}
