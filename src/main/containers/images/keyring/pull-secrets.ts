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

/** Each once: a pod may name one secret ten thousand times. */
export function secretNames({ spec }: Pod): string[] {
  const names = (spec.imagePullSecrets ?? []).flatMap(({ name = "" }) => (name === "" ? [] : [name]));
  return [...new Set(names)];
}
