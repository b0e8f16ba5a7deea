// One run of a CNI plugin: configuration on standard input, parameters in the environment, result on standard output.
// Source: https://www.cni.dev/docs/spec/ (section 2, execution protocol)

import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { ProgramFailedError } from "../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../shared/io/exec/run-program.js";
import { Fault } from "../fault.js";
import { type NetworkConfig, type PluginConfig } from "./cni-config.js";

export interface Attachment {
  containerId: string;
  /** Path of the network namespace; "": it does not exist any more. */
  netns: string;
  /** "K=V;K=V" */
  args: string;
  /** Values for the plugins that have the capability. */
  capabilities: Readonly<Record<string, unknown>>;
}

export interface PluginRun {
  command: "ADD" | "DEL";
  network: NetworkConfig;
  plugin: PluginConfig;
  attachment: Attachment;
  /** Result of the plugin before it, or of the whole ADD; undefined: none. */
  prevResult: unknown;
}

/** The interface in the pod. */
export const IF_NAME = "eth0";
/** As long as a pod may wait for its network. */
const DEADLINE_MS = 2 * 60_000;

export interface PluginDeps {
  binDirs: readonly string[];
  clock: Pick<Clock, "after">;
}

/** The plugin's result; undefined for DEL. Rejects with Fault. */
export async function runPlugin(run: PluginRun, { binDirs, clock }: PluginDeps, signal: AbortSignal): Promise<unknown> {
  const { command, plugin, attachment } = run;
  const program = await findPlugin(plugin.type, binDirs);
  try {
    const output = await runProgram({
      command: program,
      args: [],
      env: [
        { name: "CNI_COMMAND", value: command },
        { name: "CNI_CONTAINERID", value: attachment.containerId },
        { name: "CNI_NETNS", value: attachment.netns },
        { name: "CNI_IFNAME", value: IF_NAME },
        { name: "CNI_ARGS", value: attachment.args },
        { name: "CNI_PATH", value: binDirs.join(":") },
      ],
      input: JSON.stringify(pluginInput(run)),
      clock,
      deadlineMs: DEADLINE_MS,
      signal,
    });
    return command === "ADD" ? resultOf(output, plugin.type) : undefined;
  } catch (error) {
    if (!(error instanceof ProgramFailedError)) throw error;
    throw new Fault(
      "UNKNOWN",
      `CNI plugin ${plugin.type}, ${command}: ${said(error.stdout) ?? `the program ${error.message}`}`,
      { cause: error },
    );
  }
}

/** Pure: the configuration with what belongs to this run. @internal */
export function pluginInput({ network, plugin, attachment, prevResult }: PluginRun): Record<string, unknown> {
  const { capabilities: declared, ...config } = plugin;
  const wanted = isRecord(declared) ? declared : {};
  const runtimeConfig = Object.fromEntries(
    Object.entries(attachment.capabilities).filter(([name]) => wanted[name] === true),
  );
  return omitUndefined({
    ...config,
    name: network.name,
    cniVersion: network.cniVersion,
    runtimeConfig: Object.keys(runtimeConfig).length > 0 ? runtimeConfig : undefined,
    prevResult,
  });
}

async function findPlugin(type: string, binDirs: readonly string[]): Promise<string> {
  for (const dir of binDirs) {
    const path = join(dir, type);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  throw new Fault(
    "UNKNOWN",
    `failed to find plugin ${JSON.stringify(type)} in path [${binDirs.join(" ")}]: install it, or correct --cni-bin-dir`,
  );
}

function resultOf(output: string, type: string): unknown {
  try {
    return JSON.parse(output);
  } catch (error) {
    throw new Fault("UNKNOWN", `CNI plugin ${type}, ADD: its result is no JSON`, { cause: error });
  }
}

/** The message and details of a plugin's error. */
function said(stdout: string): string | undefined {
  try {
    const error: unknown = JSON.parse(stdout);
    if (!isRecord(error) || typeof error["msg"] !== "string") return undefined;
    const details = typeof error["details"] === "string" && error["details"] !== "" ? `; ${error["details"]}` : "";
    return `${error["msg"]}${details}`;
  } catch {
    // It printed something else: its exit status is in the message.
    return undefined;
  }
}

/** Pure: the addresses of a result, of all versions of the format. */
export function addressesOf(result: unknown): string[] {
  if (!isRecord(result)) return [];
  const listed = Array.isArray(result["ips"])
    ? result["ips"].map((entry: unknown) => (isRecord(entry) ? entry["address"] : undefined))
    : [];
  // Version 0.2.0.
  const former = [result["ip4"], result["ip6"]].map((entry) => (isRecord(entry) ? entry["ip"] : undefined));
  return [...listed, ...former].flatMap((address) =>
    typeof address === "string" ? [address.replace(/\/\d+$/, "")] : [],
  );
}
