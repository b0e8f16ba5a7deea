// Which ConfigMaps may configure this kubelet. --dynamic-config-sources fixes them on the node, because many components
// of a cluster may change the Node object that assigns one. Pure.

import type { ConfigMapReference } from "./config-source.js";

const CONFIG_SOURCES_FLAG = "--dynamic-config-sources";
export const DEFAULT_CONFIG_SOURCE = "kube-system/nodelet-config";

/** "namespace/name"; the name may end with "*", after at least one other character. */
const ENTRY = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9]|[-.a-z0-9]{0,251}\*)?$/;

export function isConfigSourceEntry(text: string): boolean {
  return ENTRY.test(text);
}

/** `allowed`: the flag's entries. */
export function isAllowedSource(
  allowed: readonly string[],
  { namespace, name }: Pick<ConfigMapReference, "namespace" | "name">,
): boolean {
  const wanted = `${namespace}/${name}`;
  return allowed.some((entry) => (entry.endsWith("*") ? wanted.startsWith(entry.slice(0, -1)) : wanted === entry));
}

/** Why a ConfigMap is refused, for the condition, the event and the log. */
export function notAllowedText(
  allowed: readonly string[],
  { namespace, name }: Pick<ConfigMapReference, "namespace" | "name">,
): string {
  const list = allowed.length === 0 ? "no ConfigMap" : allowed.join(", ");
  return `ConfigMap ${namespace}/${name} is refused: ${CONFIG_SOURCES_FLAG} of this kubelet allows ${list}`;
}
