// nodelet restart: ends a pod and starts it anew from the same manifest, with a new sandbox, new containers and empty
// emptyDir volumes. A manifest of the manifest API gets an annotation with the time, as `kubectl rollout restart` gives
// a Deployment's template one: another manifest is another pod. A file, a URL or a manifest with metadata.uid stays as
// it is: there the kubelet starts the pod again under its UID.

import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { nodeState, putManifest, restartPod } from "../manifests/node-manifests.js";
import { errorText, Outcomes } from "../manifests/outcome.js";
import { restarted } from "../manifests/plan.js";
import { targetOf, withoutKind, type Target } from "../manifests/target.js";
import { manifestName } from "../pods/find.js";

export interface RestartOptions {
  namespace?: string;
}

export async function restartCommand(
  context: Context,
  names: readonly string[],
  { namespace }: RestartOptions,
): Promise<ExitCode> {
  const state = await nodeState(context.client, "optional");
  const outcomes = new Outcomes(context, false);
  for (const named of withoutKind(names, state)) {
    try {
      const target = targetOf("restart", named, namespace, state);
      await outcomes.run(nameOf(target), async () => {
        await restart(context, target);
        return "restarted";
      });
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === EXIT.noKubelet) throw error;
      outcomes.fail({ name: `pod/${named}` }, `${named}: ${errorText(error)}`);
    }
  }
  return await outcomes.end();
}

function nameOf({ manifest, pod }: Target): { namespace: string; name: string } {
  if (manifest !== undefined) return manifest;
  if (pod === undefined) throw new CliError(EXIT.wrong, "its manifest was deleted: it terminates");
  return { namespace: pod.metadata.namespace, name: manifestName(pod) };
}

async function restart({ client, clock }: Context, { manifest, pod }: Target): Promise<void> {
  if (manifest?.refused === true) throw new Error("the kubelet refuses its manifest: apply a corrected one");
  const keepsUid = manifest !== undefined && pod !== undefined && manifest.metadata["uid"] === pod.metadata.uid;
  if (pod !== undefined && (manifest === undefined || keepsUid)) {
    await restartPod(client, pod);
    return;
  }
  if (manifest === undefined) throw new Error("its manifest was deleted: it terminates");
  const at = new Date(clock.now()).toISOString();
  const { resourceVersion } = manifest;
  await putManifest(client, { ...manifest, ...restarted(manifest, at), replaces: resourceVersion }, false);
}
