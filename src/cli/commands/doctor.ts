// nodelet doctor: checks the machine, before and after the kubelet's first start. --fix gives it a pod network if none
// is configured.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import type { Result } from "../doctor/check.js";
import { askKubelet, examine } from "../doctor/examine.js";
import { fixNetwork } from "../doctor/fix-network.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { readKubeletConfig } from "../machine/kubelet-config.js";
import type { Ipv6Wish } from "../network/pod-range6.js";
import { print } from "../output/print.js";
import { wrap } from "../output/table.js";
import { readNode } from "../runtime/read-node.js";

export interface DoctorOptions {
  fix?: boolean;
  /** Absent: if the node has a global IPv6 address. */
  dualStack?: boolean;
}

export async function doctorCommand(
  context: Context,
  { fix = false, dualStack }: DoctorOptions = {},
): Promise<ExitCode> {
  const asked = await askKubelet(context.client);
  const status = asked instanceof CliError ? undefined : asked;
  if (fix) return fixCommand(context, status, dualStack === undefined ? "auto" : dualStack ? "on" : "off");
  if (dualStack !== undefined) throw new CliError(EXIT.usage, "--dual-stack belongs to --fix");
  const { machine, results } = await examine(context, asked);
  await print(context, { machine, results }, () => doctorText(context, results));
  return results.some(({ severity }) => severity === "error") ? EXIT.wrong : EXIT.fine;
}

/** The checks are not repeated: the unit of the packages runs this before the kubelet. */
async function fixCommand(context: Context, status: NodeletStatus | undefined, ipv6: Ipv6Wish): Promise<ExitCode> {
  const { mode, settings } = await readNode(await readKubeletConfig(context.client, status, context), status);
  const dockerNetwork = status?.docker?.network.plugin === "none";
  const fixed = await fixNetwork({ mode, settings, dockerNetwork, ipv6 });
  const colours = { fixed: "green", fine: "green", failed: "red" } as const;
  await print(context, fixed, () => `${context.paint(colours[fixed.result], fixed.result)}: ${fixed.said}\n`);
  return fixed.result === "failed" ? EXIT.wrong : EXIT.fine;
}

/** @internal */
export function doctorText({ paint, columns }: Pick<Context, "paint" | "columns">, results: readonly Result[]): string {
  const colours = { ok: "green", warning: "yellow", error: "red" } as const;
  const lines = results.flatMap(({ severity, check, found, why, fix }) => [
    `${paint(colours[severity], severity.padEnd(7))} ${check}: ${wrap(found, columns, "        ").trimStart()}`,
    ...(why === undefined ? [] : [wrap(`why: ${why}`, columns, "        ")]),
    // In one line, so that it can be pasted.
    ...(fix === undefined ? [] : [`        fix: ${fix}`]),
  ]);
  const count = (severity: Result["severity"]): number => results.filter((one) => one.severity === severity).length;
  const fine = count("ok");
  const counts = [plural(count("error"), "error"), plural(count("warning"), "warning")];
  return `${lines.join("\n")}\n\n${counts.join(", ")}, ${plural(fine, "check")} ${fine === 1 ? "is" : "are"} fine\n`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
