// Reads what `containerd config dump` prints, of configuration versions 1, 2 (containerd 1.x) and 3 (containerd 2).
// Pure.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { DEFAULT_BIN_DIR, DEFAULT_CONF_DIR, isSet, withoutSlash, type RuntimeSettings } from "./runtime-settings.js";
import { listAt, readToml, textAt, valueAt, type TomlTable } from "./toml.js";

/** The table of the CRI plugin that runs pods, by version of the configuration: the first that the dump has counts. */
const PLUGINS: readonly (readonly string[])[] = [
  ["plugins", "io.containerd.cri.v1.runtime"],
  ["plugins", "io.containerd.grpc.v1.cri"],
  ["plugins", "cri"],
];
const IMAGES = ["plugins", "io.containerd.cri.v1.images", "pinned_images", "sandbox"];
/** Names of the plugin in `disabled_plugins`. */
const DISABLED = new Set(["cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"]);

export interface ContainerdConfig extends RuntimeSettings {
  /** Path of the socket that this configuration serves. */
  address: string;
}

/** Throws if the text is no TOML. */
export function readContainerdConfig(dump: string): ContainerdConfig {
  const toml = readToml(dump);
  const plugin = PLUGINS.find((one) => hasNetwork(toml, one)) ?? PLUGINS[1] ?? [];
  const cni = [...plugin, "cni"];
  const handler = textAt(toml, ...plugin, "containerd", "default_runtime_name") ?? "runc";
  const runtime = [...plugin, "containerd", "runtimes", handler];
  const modern = plugin === PLUGINS[0];
  // The list came with containerd 2.1; the single folder is empty beside it.
  const list = (listAt(toml, ...cni, "bin_dirs") ?? []).filter((one) => one !== "");
  const single = textAt(toml, ...cni, "bin_dir") ?? "";
  const binDirs = list.length > 0 ? list : [single === "" ? DEFAULT_BIN_DIR : single];
  const confDirs = [textAt(toml, ...runtime, "cni_conf_dir"), textAt(toml, ...cni, "conf_dir")];
  const template = textAt(toml, ...cni, "conf_template");
  const disabled = listAt(toml, "disabled_plugins") ?? [];
  const systemd = valueAt(toml, ...runtime, "options", "SystemdCgroup") === true;
  const sandboxImage = textAt(toml, ...IMAGES) ?? textAt(toml, ...plugin, "sandbox_image");
  return omitUndefined({
    runtime: "containerd",
    address: textAt(toml, "grpc", "address") ?? "/run/containerd/containerd.sock",
    confDir: withoutSlash(confDirs.find(isSet) ?? DEFAULT_CONF_DIR),
    binDirs: binDirs.map(withoutSlash),
    // containerd 2 tells the kubelet its driver.
    cgroupDriver: modern ? undefined : systemd ? "systemd" : "cgroupfs",
    template: isSet(template) ? template : undefined,
    sandboxImage: isSet(sandboxImage) ? sandboxImage : undefined,
    criDisabled: disabled.some((name) => DISABLED.has(name)) ? true : undefined,
  });
}

function hasNetwork(toml: TomlTable, plugin: readonly string[]): boolean {
  return ["conf_dir", "bin_dir", "bin_dirs"].some((key) => valueAt(toml, ...plugin, "cni", key) !== undefined);
}
