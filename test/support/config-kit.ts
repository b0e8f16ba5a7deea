// Configurations for tests: files that exist only in memory, and the words to load them with.

import { type FlagValue } from "../../src/main/command/config/flags-over-config.js";
import { resolveConfig, type ResolvedConfig } from "../../src/main/command/config/resolve-config.js";
import type { HostFacts } from "../../src/main/command/rules/rule.js";
import type { CommandIo } from "../../src/main/command/settings.js";

export const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
export const CONFIG_FILE = "/etc/k/c.yaml";
export const CONFIG_DIR = "/etc/k/d";

/** A machine of unified cgroups with four CPUs. */
export const HOST: HostFacts = { cgroupVersion: 2, onlineCpus: [0, 1, 2, 3] };

/** Bodies without apiVersion and kind; drop-ins by their path below CONFIG_DIR. */
export interface Sources {
  readonly file?: string | undefined;
  readonly dropIns?: Readonly<Record<string, string>> | undefined;
  readonly flags?: Readonly<Record<string, unknown>> | undefined;
}

/** `files`: whole texts by path. */
export function ioOf(files: Readonly<Record<string, string>>, host: HostFacts = HOST): CommandIo {
  return {
    host: () => host,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return text;
    },
    listFiles: (dir) => {
      const names = Object.keys(files).filter((path) => path.startsWith(`${dir}/`));
      if (names.length === 0) throw new Error(`ENOENT: no such directory, scandir '${dir}'`);
      return names.map((path) => path.slice(dir.length + 1));
    },
  };
}

export function filesOf({ file, dropIns }: Sources): Record<string, string> {
  const found: Record<string, string> = {};
  if (file !== undefined) found[CONFIG_FILE] = HEAD + file;
  for (const [name, body] of Object.entries(dropIns ?? {})) found[`${CONFIG_DIR}/${name}`] = HEAD + body;
  return found;
}

export async function resolveSources(sources: Sources, host = HOST): Promise<ResolvedConfig> {
  const flags = new Map<string, FlagValue>();
  if (sources.file !== undefined) flags.set("config", { value: CONFIG_FILE });
  if (sources.dropIns !== undefined) flags.set("config-dir", { value: CONFIG_DIR });
  for (const [name, value] of Object.entries(sources.flags ?? {})) flags.set(name, { value });
  return await resolveConfig(flags, ioOf(filesOf(sources), host), host);
}
