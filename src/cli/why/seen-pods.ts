// Reads what the kubelet knows about all pods, for commands that show many of them.

import type { NodeletEvents, NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import { ofMain } from "../pods/of-main.js";
import { podState, type StateOf } from "../pods/state.js";
import { seenPod, type SeenPod } from "./seen-pod.js";

/** Pods by their UID, as `nodelet why` sees them. */
export type SeenPods = ReadonlyMap<string, SeenPod>;

export async function seenPods(client: Client, node: NodeletStatus, pods: readonly Pod[]): Promise<SeenPods> {
  const [facts, events] = await Promise.all([
    ofMain(() => client.json<Record<string, PodFacts>>("/nodelet/pod-facts")),
    ofMain(() => client.json<NodeletEvents>("/nodelet/events")),
  ]);
  const eventsByPod = byPod(events?.items ?? []);
  return new Map(
    pods.map((pod) => {
      const { uid } = pod.metadata;
      const input = { pod, facts: facts?.[uid], events: eventsByPod.get(uid) ?? [], node, pods, now: node.now };
      return [uid, seenPod(input)];
    }),
  );
}

function byPod(events: readonly Event[]): Map<string, Event[]> {
  const grouped = new Map<string, Event[]>();
  for (const event of events) {
    const { uid } = event.involvedObject;
    const others = grouped.get(uid);
    if (others === undefined) grouped.set(uid, [event]);
    else others.push(event);
  }
  return grouped;
}

/** Rows of manifests, which are no pods, have the state of their own. */
export function stateIn(seen: SeenPods): StateOf {
  return (pod) => seen.get(pod.metadata.uid)?.state ?? podState(pod);
}
