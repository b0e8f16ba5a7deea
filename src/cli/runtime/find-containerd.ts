// Asks containerd for its effective configuration: `containerd config dump`, with the program and file of the daemon that serves the socket.
// Invariant: only a program that root runs in this mount namespace is started. Another user's process may call itself containerd, too.
import { readFile, readdir, readlink, stat } from "node:fs/promises";
import { basename } from "node:path";
import { runProgram } from "../../shared/exec/run-program.js";
import { systemClock } from "../../shared/clock/clock.js";
import { findProgram } from "./find-program.js";
import { readContainerdConfig, type ContainerdConfig } from "./containerd-config.js";

const DUMP_MS = 20_000;

/** How a daemon was started. */
interface Daemon {
  program: string;
  config?: string;
  address?: string;
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
    // A configuration that containerd itself cannot read: its own log has the reason, and the check of the runtime reports it.
    return undefined;
  }
}

async function daemons(): Promise<Daemon[]> {
  const ours = await readlink("/proc/self/ns/mnt").catch(() => undefined);
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found: Daemon[] = [];
  for (const pid of pids) {
    const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (basename(words.split("\0", 1)[0] ?? "") !== "containerd") continue;
    const [owner, namespace, program] = await Promise.all([
      stat(`/proc/${pid}`).catch(() => undefined),
      readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined),
      readlink(`/proc/${pid}/exe`).catch(() => undefined),
    ]);
    if (owner?.uid !== 0 || namespace === undefined || namespace !== ours || program === undefined) continue;
    found.push({ program, ...daemonFlags(words.split("\0")) });
  }
  return found;
}

/** @internal `--config FILE`, `--config=FILE`, `-c FILE`; and the same of --address. */
export function daemonFlags(words: readonly string[]): Omit<Daemon, "program"> {
  const flag = (names: readonly string[]): string | undefined => {
    for (const [index, word] of words.entries()) {
      const [name = "", value] = word.split(/=(.*)/s, 2);
      if (names.includes(name)) return value ?? words[index + 1];
    }
    return undefined;
  };
  const [config, address] = [flag(["--config", "-c", "-config"]), flag(["--address", "-a", "-address"])];
  return { ...(config !== undefined && { config }), ...(address !== undefined && { address }) };
}
