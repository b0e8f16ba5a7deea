// Parts of a support bundle that the kubelet answers on its admin socket.

import type { NodeletEvents, NodeletStatus } from "../../../shared/contracts/nodelet.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { podsOf } from "../../pods/find.js";
import { maskText } from "../mask-text.js";
import { maskLog, maskMessages, maskPod } from "../mask.js";
import { pretty, type Part, type Sources } from "../part.js";
import { secretVariables } from "../words.js";

export function kubeletParts({ client, secrets }: Sources): Part[] {
  const maskedPod = (pod: Pod): unknown => {
    for (const value of secretVariables(pod)) secrets.add(value);
    return maskPod(pod);
  };
  return [
    {
      name: "status.json",
      read: async () => pretty(maskMessages(withoutManifests(await client.json<NodeletStatus>("/nodelet/status")))),
    },
    { name: "pods.json", read: async () => pretty((await podsOf(client)).map(maskedPod)) },
    {
      name: "events.json",
      read: async () => pretty(maskMessages((await client.json<NodeletEvents>("/nodelet/events")).items)),
    },
    { name: "images.json", read: async () => maskText(await client.text("/nodelet/images")) },
    { name: "config.json", read: async () => maskText(await client.text("/configz?origin=1")) },
    { name: "metrics.txt", read: () => client.text("/metrics") },
    { name: "stats.json", read: () => client.text("/stats/summary") },
    { name: "kubelet-memory.log", keep: "end", read: async () => maskLog(await client.text("/nodelet/log")) },
  ];
}

/** manifests.txt has them, without the values that a refused manifest gives, such as its name. */
function withoutManifests({ manifests: _manifests, ...status }: NodeletStatus): Omit<NodeletStatus, "manifests"> {
  return status;
}
