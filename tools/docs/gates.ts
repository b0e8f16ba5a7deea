// docs/reference/feature-gates.md: the table of feature gates.

import { OTHER_COMPONENTS } from "../../src/main/command/gates/other-components.js";
import { GATES, type Gate } from "../../src/main/command/gates/table.js";
import { code, heading, table } from "./table.js";

export function gatesPage(): string {
  const all: [string, Gate][] = Object.entries(GATES);
  const own = all.filter(([name]) => !OTHER_COMPONENTS.has(name));
  const foreign = all.filter(([name]) => OTHER_COMPONENTS.has(name));
  return [
    ...heading("Feature gates", [
      "Set them in `featureGates` or with `--feature-gates`. Upstream's components share one list of gates, so the kubelet accepts all of them.",
      "A locked gate cannot be set away from its default. A gate without effect is named in the log when it is set away from its default.",
    ]),
    "## Gates of the kubelet",
    "",
    ...table(
      ["gate", "stage", "default", "needs", "effect here"],
      own.map(([name, gate]) => [...row(name, gate), gate.dependsOn.map(code).join(", "), effect(gate)]),
    ),
    "## Gates of other components",
    "",
    ...table(
      ["gate", "stage", "default", "component"],
      foreign.map(([name, gate]) => [...row(name, gate), OTHER_COMPONENTS.get(name) ?? ""]),
    ),
  ].join("\n");
}

function row(name: string, { stage, default: on }: Gate): string[] {
  return [code(name), stage, on ? "on" : "off"];
}

function effect({ locked, actedOn }: Gate): string {
  if (actedOn) return locked ? "yes, locked" : "yes";
  return locked ? "locked" : "none: see [Configuration](../configuration.md)";
}
