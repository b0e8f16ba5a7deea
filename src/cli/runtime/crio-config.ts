// Reads CRI-O's configuration: the files in their order, each over those before it, or what `crio status config`
// prints. Pure.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { DEFAULT_BIN_DIR, DEFAULT_CONF_DIR, isSet, withoutSlash, type RuntimeSettings } from "./runtime-settings.js";
import { listAt, over, readToml, textAt, type TomlTable } from "./toml.js";

const NETWORK = ["crio", "network"];

/** CRI-O does not start with a file that is no TOML; here it says nothing. */
export function readCrioConfig(files: readonly string[]): RuntimeSettings {
  const toml = files.map(tableOf).reduce(over, {});
  const confDir = textAt(toml, ...NETWORK, "network_dir");
  // `plugin_dir` is the field of old releases.
  const dirs = listAt(toml, ...NETWORK, "plugin_dirs") ?? [textAt(toml, ...NETWORK, "plugin_dir") ?? ""];
  const binDirs = dirs.filter((one) => one !== "").map(withoutSlash);
  const sandboxImage = textAt(toml, "crio", "image", "pause_image");
  return omitUndefined({
    runtime: "cri-o",
    confDir: isSet(confDir) ? withoutSlash(confDir) : DEFAULT_CONF_DIR,
    binDirs: binDirs.length > 0 ? binDirs : [DEFAULT_BIN_DIR],
    sandboxImage: isSet(sandboxImage) ? sandboxImage : undefined,
    // No cgroupDriver: CRI-O tells the kubelet its own.
  });
}

function tableOf(text: string): TomlTable {
  try {
    return readToml(text);
  } catch {
    return {};
  }
}
