// Warns of pods of the API server that set fields of a later Kubernetes. An API server that is newer than the kubelet
// accepts them, and upstream's kubelet says nothing. Of a static pod the manifest's own warnings tell.

import { laterFields } from "../../../shared/kubernetes/api/later-fields.js";
import { fieldName } from "../../../shared/kubernetes/api/manifest/field-path.js";
import { isStaticPod, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { PodSubscriber } from "../../model/pod-events.js";

const MOST_NAMED = 8;

export function laterFieldsWarnings(events: Pick<EventRecorder, "pod">): PodSubscriber {
  return {
    accepted: ({ pod, known }) => {
      if (known || isStaticPod(pod)) return;
      const message = laterFieldsText(pod);
      if (message !== undefined) events.pod(pod, { type: "Warning", reason: "LaterFields", message });
    },
  };
}

function laterFieldsText(pod: Pod): string | undefined {
  const found = laterFields(pod);
  if (found.length === 0) return undefined;
  const named = found.slice(0, MOST_NAMED).map(({ path, gate }) => `${fieldName(path)} (${gate})`);
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : "";
  return `this kubelet keeps the contract of Kubernetes 1.36 and does not act on fields of 1.37: ${named.join(", ")}${more}`;
}
