// Reads CRI-O's configuration: the files in their order, each over those before it. Pure.
import { DEFAULT_BIN_DIR, DEFAULT_CONF_DIR, withoutSlash, type RuntimeSettings } from "./runtime-settings.js";
import { readToml, TomlTables } from "./toml.js";

const NETWORK = ["crio", "network"];

export function readCrioConfig(files: readonly string[]): RuntimeSettings {
  const toml = new TomlTables();
  for (const text of files) readToml(text, toml);
  const confDir = toml.text(NETWORK, "network_dir");
  // `plugin_dir` is the field of old releases.
  const dirs = toml.list(NETWORK, "plugin_dirs") ?? [toml.text(NETWORK, "plugin_dir") ?? ""];
  const binDirs = dirs.filter((one) => one !== "").map(withoutSlash);
  return {
    runtime: "cri-o",
    confDir: confDir === undefined || confDir === "" ? DEFAULT_CONF_DIR : withoutSlash(confDir),
    binDirs: binDirs.length > 0 ? binDirs : [DEFAULT_BIN_DIR],
    // No cgroupDriver: CRI-O tells the kubelet its own.
  };
}
