// Examines the machine: what `nodelet doctor` prints, and the support bundle keeps.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Client } from "../client.js";
import type { Context } from "../context.js";
import { CliError } from "../errors.js";
import { readKubeletConfig } from "../machine/kubelet-config.js";
import type { Machine, Result } from "./check.js";
import { readMachine } from "./machine.js";
import { podChecks } from "./pod-checks.js";
import { judge } from "./rules.js";
import { silentKubelet } from "./silent-kubelet.js";

export interface Examined {
  machine: Machine;
  results: Result[];
}

/** @param asked the kubelet's status, or the reason why there is none */
export async function examine(
  { client, clock }: Pick<Context, "client" | "clock">,
  asked: NodeletStatus | CliError,
): Promise<Examined> {
  const status = asked instanceof CliError ? undefined : asked;
  const config = await readKubeletConfig(client, status, { clock });
  const machine = await readMachine(status, config);
  const results = [
    ...judge(machine, status),
    ...(await podChecks({ client, status, config, settings: machine.settings }, { clock })),
    ...(asked instanceof CliError ? [silentKubelet(asked, machine)] : []),
  ];
  return { machine, results };
}

/** The kubelet's status, or the reason why there is none. */
export async function askKubelet(client: Client): Promise<NodeletStatus | CliError> {
  try {
    return await client.json<NodeletStatus>("/nodelet/status");
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}
