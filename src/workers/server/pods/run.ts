// POST /run/<namespace>/<pod>[/<uid>]/<container>?cmd=…: a command's output, once it has ended.

import { queryOf } from "../../../shared/io/http/target.js";
import { grpcText } from "../../../shared/kubernetes/cri/errors.js";
import { podUid } from "../../../shared/kubernetes/identifiers.js";
import type { Answer, Route } from "../http/answer.js";
import { replyPlain } from "../http/reply.js";
import type { PodList } from "./pod-list.js";
import { UnknownPodError, podOf, runningContainer, type MirrorUid } from "./pod-lookup.js";
import type { ServedRuntime } from "./runtime.js";

export interface RunDeps {
  pods: PodList;
  runtime: () => Promise<ServedRuntime>;
  mirrorUid: MirrorUid;
}

export function runRoutes({ pods, runtime, mirrorUid }: RunDeps): Route[] {
  const answer: Answer = async (_request, response, { target, params }) => {
    const { namespace = "", pod: name = "", uid = "", container = "" } = params;
    const cmd = (queryOf(target).get("cmd") ?? "").split(" ");
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client disconnected")));
    try {
      const pod = await podOf(pods, { namespace, name, uid: podUid(uid) }, mirrorUid);
      const cri = await runtime();
      const containerId = await runningContainer(cri, pod, container);
      // Without a time-out: the command ends when it ends.
      const { stdout, stderr, exitCode } = await cri.execSync({ containerId, cmd }, { signal: gone.signal });
      if (exitCode !== 0) {
        const said = Buffer.from(stderr).toString("utf8");
        replyPlain(response, 500, `command '${cmd.join(" ")}' exited with ${exitCode}: ${said}`);
        return;
      }
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(Buffer.concat([stdout, stderr]));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!gone.signal.aborted) replyPlain(response, error instanceof UnknownPodError ? 404 : 500, grpcText(error));
    }
  };
  return [
    { path: "/run/:namespace/:pod/:container", service: "/run", methods: ["POST"], answer },
    { path: "/run/:namespace/:pod/:uid/:container", service: "/run", methods: ["POST"], answer },
  ];
}
