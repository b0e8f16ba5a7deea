// The imagePullSecrets of pods, and their source: the API. On a stand-alone node there is no source, and every secret
// that a pod names is missing.

import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";

export interface PullSecret {
  uid: string;
  namespace: string;
  name: string;
  /** By registry, as in the secret's docker configuration. */
  auths: ReadonlyMap<string, AuthConfig>;
}

export interface PullSecrets {
  /** In the order in which the pod names them; those that don't exist or can't be read are missing. */
  forPod(pod: Pod, signal: AbortSignal): Promise<{ secrets: PullSecret[]; missing: string[] }>;
}

export const standalonePullSecrets: PullSecrets = {
  forPod: (pod) => Promise.resolve({ secrets: [], missing: secretNames(pod) }),
};

/** Secrets of one pod that are read, by their order; the others count as missing. */
export const MOST_PULL_SECRETS = 1024;

/** Each once: a pod may name one secret ten thousand times. */
export function secretNames({ spec }: Pod): string[] {
  const names = (spec.imagePullSecrets ?? []).flatMap(({ name = "" }) => (name === "" ? [] : [name]));
  return [...new Set(names)];
}

/** Names that a message lists; it counts the others. */
const SHOWN = 16;

/** Upstream's list of the names; a pod may name tens of thousands. */
export function shownNames(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more <= 0 ? names.join(", ") : `${names.slice(0, SHOWN).join(", ")} and ${more} more`;
}
