// Reads what `containerd config dump` prints, of configuration versions 1, 2 (containerd 1.x) and 3 (containerd 2). Pure.
import { DEFAULT_BIN_DIR, DEFAULT_CONF_DIR, withoutSlash, type RuntimeSettings } from "./runtime-settings.js";
import { readToml, type TomlTables } from "./toml.js";

/** The table of the CRI plugin that runs pods, by version of the configuration: the first that the dump has counts. */
const PLUGINS: readonly (readonly string[])[] = [
  ["plugins", "io.containerd.cri.v1.runtime"],
  ["plugins", "io.containerd.grpc.v1.cri"],
  ["plugins", "cri"],
];
/** Names of the plugin in `disabled_plugins`. */
const DISABLED = new Set(["cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"]);

export interface ContainerdConfig extends RuntimeSettings {
  /** Path of the socket that this configuration serves. */
  address: string;
}

export function readContainerdConfig(dump: string): ContainerdConfig {
  const toml = readToml(dump);
  const plugin = PLUGINS.find((one) => hasNetwork(toml, one)) ?? PLUGINS[1] ?? [];
  const cni = [...plugin, "cni"];
  const handler = toml.text([...plugin, "containerd"], "default_runtime_name") ?? "runc";
  const runtime = [...plugin, "containerd", "runtimes", handler];
  const modern = plugin === PLUGINS[0];
  // The list came with containerd 2.1; the single folder is empty beside it.
  const list = (toml.list(cni, "bin_dirs") ?? []).filter((one) => one !== "");
  const single = toml.text(cni, "bin_dir") ?? "";
  const binDirs = list.length > 0 ? list : [single === "" ? DEFAULT_BIN_DIR : single];
  const confDir = [toml.text(runtime, "cni_conf_dir"), toml.text(cni, "conf_dir")].find(isSet) ?? DEFAULT_CONF_DIR;
  const template = toml.text(cni, "conf_template");
  const disabled = toml.list([], "disabled_plugins") ?? [];
  const systemd = toml.value([...runtime, "options"], "SystemdCgroup") === true;
  return {
    runtime: "containerd",
    address: toml.text(["grpc"], "address") ?? "/run/containerd/containerd.sock",
    confDir: withoutSlash(confDir),
    binDirs: binDirs.map(withoutSlash),
    // containerd 2 tells the kubelet its driver.
    ...(modern ? {} : { cgroupDriver: systemd ? "systemd" : "cgroupfs" }),
    ...(isSet(template) ? { template } : {}),
    ...(disabled.some((name) => DISABLED.has(name)) ? { criDisabled: true } : {}),
  };
}

function hasNetwork(toml: TomlTables, plugin: readonly string[]): boolean {
  const cni = [...plugin, "cni"];
  return ["conf_dir", "bin_dir", "bin_dirs"].some((key) => toml.value(cni, key) !== undefined);
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
