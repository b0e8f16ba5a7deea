// Where a container runtime looks for its pod network, and how it names cgroups: by its own configuration.

export interface RuntimeSettings {
  runtime: "containerd" | "cri-o" | "docker";
  /** Folder of CNI configurations. */
  confDir: string;
  /** Folders of CNI programs, in the order of the search. */
  binDirs: readonly string[];
  /**
   * The cgroup driver of the default runtime; undefined: not known, or the kubelet takes the runtime's own
   * (RuntimeConfig).
   */
  cgroupDriver?: "cgroupfs" | "systemd" | undefined;
  /** The runtime makes its network configuration by itself, from a template. */
  template?: string | undefined;
  /** The image of pod sandboxes; absent: the runtime does not say. */
  sandboxImage?: string | undefined;
  /** The runtime serves no kubelet: its CRI plugin is disabled. */
  criDisabled?: boolean | undefined;
}

/** The default of every runtime that says nothing else. */
export const DEFAULT_CONF_DIR = "/etc/cni/net.d";
export const DEFAULT_BIN_DIR = "/opt/cni/bin";

export function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

/** "/etc/cni/net.d/" and "/etc/cni/net.d" are one folder. */
export function withoutSlash(folder: string): string {
  return folder.endsWith("/") && folder !== "/" ? withoutSlash(folder.slice(0, -1)) : folder;
}
