// The order in which pods are shown. Pure.
import type { Pod } from "../../shared/api/pod.js";
import { podState } from "./state.js";

/** States in which nothing happens without the user come first; then those that wait, then pods that are well; by name within each. */
export function brokenFirst(pods: readonly Pod[]): Pod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod), key: `${pod.metadata.namespace}/${pod.metadata.name}` }));
  return ranked.sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1)).map(({ pod }) => pod);
}

const ON_ITS_WAY = /^(?:ContainerCreating|PodInitializing|Pending|Terminating|Init:\d+\/\d+|Running)$/;

function rankOf(pod: Pod): number {
  const { fine, word } = podState(pod);
  if (fine) return 2;
  return ON_ITS_WAY.test(word) ? 1 : 0;
}
