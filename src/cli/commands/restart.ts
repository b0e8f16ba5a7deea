// nodelet restart: ends a pod and starts it anew from the same manifest, with a new sandbox, new containers and empty emptyDir volumes. The
// manifest gets an annotation with the time, as `kubectl rollout restart` gives a Deployment's template one; another manifest is another pod.
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { nodeState, putManifest } from "../manifests/node-manifests.js";
import { errorText, Outcomes } from "../manifests/outcome.js";
import { restarted } from "../manifests/plan.js";
import { targetOf, withoutKind } from "../manifests/target.js";

export interface RestartOptions {
  namespace?: string;
}

export async function restartCommand(
  context: Context,
  names: readonly string[],
  { namespace }: RestartOptions,
): Promise<ExitCode> {
  const { client, clock } = context;
  const state = await nodeState(client);
  const outcomes = new Outcomes(context, false);
  for (const named of withoutKind(names, state)) {
    try {
      const { manifest, pod } = targetOf("restart", named, namespace, state);
      if (manifest === undefined) throw new CliError(EXIT.wrong, "its manifest was deleted: it terminates");
      await outcomes.run(manifest, async () => {
        if (manifest.refused) throw new Error("the kubelet refuses its manifest: apply a corrected one");
        if (pod !== undefined && manifest.metadata["uid"] === pod.metadata.uid) {
          throw new Error(
            "its manifest has metadata.uid, so that the kubelet changes the pod in place: delete it and apply it again",
          );
        }
        const at = new Date(clock.now()).toISOString();
        const { resourceVersion } = manifest;
        await putManifest(client, { ...manifest, ...restarted(manifest, at), replaces: resourceVersion }, false);
        return "restarted";
      });
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === EXIT.noKubelet) throw error;
      outcomes.fail({ name: `pod/${named}` }, `${named}: ${errorText(error)}`);
    }
  }
  return await outcomes.end();
}
