// Asks containerd for its effective configuration: `containerd config dump`, with the program and file of the daemon
// that serves the socket.

import { systemClock } from "../../shared/base/clock/clock.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { runProgram } from "../../shared/io/exec/run-program.js";
import { findProgram } from "../machine/find-program.js";
import { readContainerdConfig, type ContainerdConfig } from "./containerd-config.js";
import { flagOf, rootProcesses } from "./root-processes.js";

const DUMP_MS = 20_000;

/** How a daemon was started. */
interface Daemon {
  program: string;
  config?: string | undefined;
  address?: string | undefined;
}

/** undefined: containerd is not installed, or has no configuration for this socket. */
export async function findContainerd(endpoint: string): Promise<ContainerdConfig | undefined> {
  const socket = endpoint.replace(/^unix:\/\//, "");
  const installed = await findProgram("containerd");
  const running = await daemons();
  const exact = running.filter(({ address }) => address === socket);
  const others = running.filter(({ address, config }) => address === undefined && config !== undefined);
  for (const daemon of [...exact, ...others]) {
    const config = await dump(daemon);
    if (config !== undefined && (daemon.address ?? config.address) === socket) return { ...config, address: socket };
  }
  return installed === undefined ? undefined : dump({ program: installed });
}

async function dump({ program, config }: Daemon): Promise<ContainerdConfig | undefined> {
  const args = [...(config === undefined ? [] : ["--config", config]), "config", "dump"];
  try {
    const text = await runProgram({ command: program, args, env: [], clock: systemClock, deadlineMs: DUMP_MS });
    return readContainerdConfig(text);
  } catch {
    // A configuration that containerd itself cannot read: its own log has the reason, and the check of the runtime
    // reports it.
    return undefined;
  }
}

async function daemons(): Promise<Daemon[]> {
  const running = await rootProcesses("containerd");
  return running.map(({ program, args }) => ({ program, ...daemonFlags(args) }));
}

/** @internal `--config FILE`, `--config=FILE`, `-c FILE`; and the same of --address. */
export function daemonFlags(args: readonly string[]): Omit<Daemon, "program"> {
  const config = flagOf(args, ["--config", "-c", "-config"]);
  const address = flagOf(args, ["--address", "-a", "-address"]);
  return omitUndefined<Omit<Daemon, "program">>({ config, address });
}
