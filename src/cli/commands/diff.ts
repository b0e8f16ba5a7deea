// nodelet diff: what `nodelet apply` would change, as unified differences of YAML. Exits as kubectl diff: 0 without a
// difference, 1 with one, 2 when a comparison failed.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { Context } from "../context.js";
import { CliError, EXIT } from "../errors.js";
import { nodeState, terminatingPods, type NodeState } from "../manifests/node-manifests.js";
import { contentOf, foreignPods, parsed, planApply, type Content, type Step } from "../manifests/plan.js";
import { faultText, readManifests, type ManifestInput } from "../manifests/read.js";
import { unifiedDiff } from "../manifests/unified-diff.js";
import { print } from "../output/print.js";
import { printFailure, warn } from "../output/terminal.js";
import { yamlText } from "../output/yaml.js";

const FAILED = 2;

export async function diffCommand(context: Context, options: ManifestInput): Promise<number> {
  const { client, clock, paint } = context;
  let state: NodeState;
  try {
    state = await nodeState(client);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.wrong) throw error;
    throw new CliError(FAILED, error.message, error.remedy);
  }
  const { manifests, faults } = await readManifests(options, clock, state.rules);
  const ending = await terminatingPods(client, foreignPods(manifests, state));
  const steps = planApply(manifests, state, ending);
  for (const fault of faults) (fault.severity === "warning" ? warn : printFailure)(faultText(fault));
  for (const { action, manifest, reason = "" } of steps) {
    if (action === "refuse") printFailure(`pod/${manifest.name} in namespace ${manifest.namespace}: ${reason}`);
  }
  const texts = steps.map(diffOf).filter((text) => text !== "");
  const data = steps.map((step) => {
    const { action, manifest, reason } = step;
    return omitUndefined({
      name: manifest.name,
      namespace: manifest.namespace,
      action,
      diff: diffOf(step),
      reason,
    });
  });
  await print(context, data, () => texts.map((text) => painted(text, paint)).join(""));
  if (faults.some(({ severity }) => severity === "error") || steps.some(({ action }) => action === "refuse")) {
    return FAILED;
  }
  return texts.length === 0 ? EXIT.fine : EXIT.wrong;
}

/** @internal */
export function diffOf({ action, manifest, current }: Step): string {
  if (action === "refuse" || action === "unchanged") return "";
  const name = `${manifest.namespace}/${manifest.name}`;
  return unifiedDiff(current === undefined ? "" : podYaml(current), podYaml(parsed(manifest)), {
    from: current === undefined ? "/dev/null" : `node ${name}`,
    to: `${manifest.file} ${name}`,
  });
}

/** Keys in one order, so that only content differs. */
function podYaml(content: Content): string {
  const { metadata, spec } = contentOf(content);
  return yamlText(sorted({ apiVersion: "v1", kind: "Pod", metadata, spec }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]): [string, unknown] => [key, sorted(member)]));
}

function painted(text: string, paint: Context["paint"]): string {
  const colourOf = (line: string): "green" | "red" | undefined =>
    line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : undefined;
  return text
    .split("\n")
    .map((line) => {
      const colour = colourOf(line);
      return colour === undefined ? line : paint(colour, line);
    })
    .join("\n");
}
