// A configuration as the operator wrote it: the texts of the config file and of the drop-ins, with their paths. Origins
// and relative paths inside depend on these paths. Two configurations are the same exactly when their digests are.

import { webcrypto } from "node:crypto";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";

export interface ConfigText {
  /** Absolute path the text was read from. */
  readonly path: string;
  readonly text: string;
}

export interface ConfigFiles {
  readonly config?: ConfigText;
  /**
   * The ConfigMap that holds `config`; absent: the node's own file holds it. The digest covers only texts and their
   * names, not this.
   */
  readonly configMap?: ConfigMapReference;
  /** In the order in which they are merged. */
  readonly dropIns: readonly ConfigText[];
}

/** The result of the injected validation; one line per problem, as SettingsError has them. */
export type Validation = { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

/** SHA-256 over paths and texts, 64 hex digits. Computed off the calling thread. */
export async function digestOf(files: ConfigFiles): Promise<string> {
  const plain = [pair(files.config), files.dropIns.map(pair)];
  const bytes = new TextEncoder().encode(JSON.stringify(plain));
  return Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

/** `wanted`, with or without UID and resourceVersion, names `found`. */
export function isMapOf(wanted: ConfigMapReference, found: ConfigMapReference): boolean {
  const same = (member: keyof ConfigMapReference): boolean =>
    wanted[member] === undefined || wanted[member] === found[member];
  return (Object.keys(wanted) as (keyof ConfigMapReference)[]).every(same);
}

/** For log lines and events: enough of the digest to find the checkpoint's folder. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

export function isDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function pair(file: ConfigText | undefined): [string, string] | null {
  return file === undefined ? null : [file.path, file.text];
}
