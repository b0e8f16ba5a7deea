// nodelet apply: creates or changes the pods of manifests, over the manifest API of the kubelet.

import type { Context } from "../context.js";
import type { ExitCode } from "../errors.js";
import { nodeState, putManifest, terminatingPods } from "../manifests/node-manifests.js";
import { Outcomes } from "../manifests/outcome.js";
import { foreignPods, parsed, planApply, type Step } from "../manifests/plan.js";
import { readManifests, type ManifestInput } from "../manifests/read.js";

export interface ApplyOptions extends ManifestInput {
  dryRun?: boolean;
}

export async function applyCommand(context: Context, options: ApplyOptions): Promise<ExitCode> {
  const { client, clock } = context;
  const { dryRun = false } = options;
  const state = await nodeState(client);
  const { manifests, faults } = await readManifests(options, clock, state.rules);
  const ending = await terminatingPods(client, foreignPods(manifests, state));
  const outcomes = new Outcomes(context, dryRun);
  outcomes.addFaults(faults);
  for (const step of planApply(manifests, state, ending)) {
    await outcomes.run(step.manifest, () => applyStep(context, step, dryRun));
  }
  return await outcomes.end();
}

async function applyStep({ client }: Context, step: Step, dryRun: boolean): Promise<string> {
  const { action, manifest, current, reason = "" } = step;
  switch (action) {
    case "refuse":
      throw new Error(reason);
    case "unchanged":
      return "unchanged";
    case "create":
    case "configure": {
      const { namespace, name } = manifest;
      await putManifest(client, { namespace, name, ...parsed(manifest), replaces: current?.resourceVersion }, dryRun);
      return action === "create" ? "created" : "configured";
    }
  }
}
