// GET /runningpods/: the runtime's pods, with only names and images.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { Answer, Route } from "../http/answer.js";
import { replyPlain, replyText } from "../http/reply.js";
import type { ServedRuntime } from "./runtime.js";

interface RunningPod {
  metadata: { name: string; namespace: string; uid: string };
  spec: { containers: { name: string; image: string; resources: object }[] };
  status: object;
}

export function runningPodsRoutes(runtime: () => Promise<ServedRuntime>): Route[] {
  const answer: Answer = async (_request, response) => {
    try {
      const items = await runningPods(await runtime());
      replyText(response, `${JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: {}, items })}\n`, JSON_TYPE);
    } catch (error) {
      replyPlain(response, 500, messageOf(error));
    }
  };
  return [{ path: "/runningpods", service: "/runningpods/", methods: ["GET"], answer }];
}

const JSON_TYPE = "application/json";

/** A pod runs while its sandbox is ready or one of its containers runs. */
async function runningPods(runtime: ServedRuntime): Promise<RunningPod[]> {
  const { ContainerState, PodSandboxState } = await import("../../../shared/kubernetes/cri/gen/runtime.v1.js");
  const [{ items: sandboxes }, { containers }] = await Promise.all([
    runtime.listPodSandbox({}),
    runtime.listContainers({ filter: { state: { state: ContainerState.CONTAINER_RUNNING } } }),
  ]);
  const pods = new Map<string, RunningPod>();
  for (const { id, state, metadata } of sandboxes) {
    const own = containers.filter(({ podSandboxId }) => podSandboxId === id);
    if (metadata === undefined || (state !== PodSandboxState.SANDBOX_READY && own.length === 0)) continue;
    const { name, namespace, uid } = metadata;
    const pod = pods.get(uid) ?? { metadata: { name, namespace, uid }, spec: { containers: [] }, status: {} };
    for (const container of own) {
      const image = container.image?.image ?? container.imageRef;
      pod.spec.containers.push({ name: container.metadata?.name ?? "", image, resources: {} });
    }
    pods.set(uid, pod);
  }
  return [...pods.values()];
}
