// nodelet doctor: checks the machine, before and after the kubelet's first start.
import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import type { Result } from "../doctor/check.js";
import { readMachine } from "../doctor/machine.js";
import { judge } from "../doctor/rules.js";
import { CliError, EXIT, type ExitCode } from "../errors.js";
import { print } from "../output/print.js";
import { wrap } from "../output/table.js";

export async function doctorCommand(context: Context): Promise<ExitCode> {
  const status = await statusOf(context);
  const machine = await readMachine(status);
  const results = judge(machine, status);
  await print(context, { machine, results }, () => doctorText(context, results));
  return results.some(({ severity }) => severity === "error") ? EXIT.wrong : EXIT.fine;
}

/** Undefined: no kubelet answers. */
export async function statusOf({ client }: Pick<Context, "client">): Promise<NodeletStatus | undefined> {
  try {
    return await client.json<NodeletStatus>("/nodelet/status");
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** @internal */
export function doctorText({ paint, columns }: Pick<Context, "paint" | "columns">, results: readonly Result[]): string {
  const colours = { ok: "green", warning: "yellow", error: "red" } as const;
  const lines = results.flatMap(({ severity, check, found, why, fix }) => [
    `${paint(colours[severity], severity.padEnd(7))} ${check}: ${wrap(found, columns, "        ").trimStart()}`,
    ...(why === undefined ? [] : [wrap(`why: ${why}`, columns, "        ")]),
    ...(fix === undefined ? [] : [wrap(`fix: ${fix}`, columns, "        ")]),
  ]);
  const count = (severity: Result["severity"]): number => results.filter((one) => one.severity === severity).length;
  return `${lines.join("\n")}\n\n${count("error")} errors, ${count("warning")} warnings, ${count("ok")} checks are fine\n`;
}
