// POST /checkpoint/<namespace>/<pod>/<container>: the runtime writes the container's state to an archive on this node.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { queryOf } from "../../../shared/io/http/target.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { grpcText } from "../../../shared/kubernetes/cri/errors.js";
import type { Route } from "../http/answer.js";
import { replyPlain, replyText } from "../http/reply.js";
import type { PodList } from "./pod-list.js";
import { containerSpec, runningContainer } from "./pod-lookup.js";
import type { ServedRuntime } from "./runtime.js";

export interface CheckpointDeps {
  pods: PodList;
  runtime: () => Promise<ServedRuntime>;
  checkpointsDir: string;
  clock: Pick<Clock, "now">;
}

export function checkpointRoute({ pods, runtime, checkpointsDir, clock }: CheckpointDeps): Route {
  return {
    path: "/checkpoint/:namespace/:pod/:container",
    service: "/checkpoint/",
    methods: ["POST"],
    answer: async (_request, response, { target, params }) => {
      const { namespace = "", pod: name = "", container = "" } = params;
      await pods.current();
      const pod = pods.find(namespace, name);
      if (pod === undefined) {
        replyPlain(response, 404, "pod does not exist");
        return;
      }
      if (containerSpec(pod, container) === undefined) {
        replyPlain(response, 404, `container ${container} does not exist`);
        return;
      }
      // The last value counts.
      const given = queryOf(target).getAll("timeout").at(-1) ?? "0";
      if (!/^[+-]?\d{1,18}$/.test(given)) {
        replyPlain(response, 404, "cannot parse value of timeout parameter");
        return;
      }
      const { name: podName, namespace: podNamespace } = pod.metadata;
      const time = apiTime(clock.now());
      const location = join(checkpointsDir, `checkpoint-${podName}_${podNamespace}-${container}-${time}.tar`);
      try {
        const cri = await runtime();
        const containerId = await runningContainer(cri, pod, container);
        await cri.checkpointContainer({ containerId, location, timeout: BigInt(given) });
      } catch (error) {
        const why = grpcText(error);
        replyPlain(response, 500, `checkpointing of ${namespace}/${name}/${container} failed (${why})`);
        return;
      }
      replyText(response, JSON.stringify({ items: [location] }), "application/json");
    },
  };
}
