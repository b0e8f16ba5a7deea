// Pods for the server thread's copy, in the form in which main sends them.

import { PodTexts } from "../../src/main/threads/pod-texts.js";
import type { PodsDelta, ServerControl } from "../../src/shared/contracts/server.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import type { PodUid } from "../../src/shared/kubernetes/identifiers.js";
import type { PodList } from "../../src/workers/server/pods/pod-list.js";

export function podsDelta(pods: readonly Pod[], removed: PodUid[] = []): PodsDelta {
  const texts = new PodTexts();
  return { set: pods.map((pod) => texts.textOf(pod)), removed };
}

/** These pods and no others. */
export function showPods(list: PodList, pods: readonly Pod[]): void {
  list.clear();
  list.apply(podsDelta(pods));
}

/** What main does after a start of the thread. */
export function sendPods(
  thread: Pick<ServerControl, "startPods" | "applyPods" | "openPorts">,
  pods: readonly Pod[],
): void {
  thread.startPods();
  thread.applyPods(podsDelta(pods));
  thread.openPorts();
}
