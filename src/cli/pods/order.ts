// The order in which pods are shown. Pure.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { podState, type PodState, type StateOf } from "./state.js";

/**
 * States in which nothing happens without the user come first; then those that wait, then pods that are well; by name
 * within each.
 */
export function brokenFirst(pods: readonly Pod[], stateOf: StateOf = podState): Pod[] {
  return inOrder(pods.map((pod) => ({ pod, state: stateOf(pod) }))).map(({ pod }) => pod);
}

/** Sorts pods whose state is known already. */
export function inOrder<T extends { pod: Pod; state: PodState }>(shown: readonly T[]): T[] {
  const nameOf = ({ pod: { metadata } }: T): string => `${metadata.namespace}/${metadata.name}`;
  return shown.toSorted((a, b) => rankOf(a.state) - rankOf(b.state) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

const ON_ITS_WAY = /^(?:ContainerCreating|PodInitializing|Pending|Terminating|Init:\d+\/\d+|Running)$/;

function rankOf({ fine, word }: PodState): number {
  if (fine) return 2;
  return ON_ITS_WAY.test(word) ? 1 : 0;
}
