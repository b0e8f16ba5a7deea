// Where everything goes. Paths are as the running machine sees them; the staging folder is put in front when files
// are touched (`Layout.at`), never written into them.

import { join } from "node:path";
import type { InstallerOptions } from "./options.js";

export interface Layout {
  /** Our own folder: compiled code, its npm packages, the record of the installed files. Removed whole. */
  home: string;
  record: string;
  /** The executable that systemd, kubeadm and people call. */
  executable: string;
  /** The nodelet command. */
  command: string;
  /** Packages alone have it: the unit's program, which runs the kubelet stand-alone or for kubeadm. */
  start: string;
  /** Packages alone have it: a generator of systemd, by which the unit's program runs beside kubeadm's drop-in, too. */
  generator: string;
  unit: string;
  standaloneDropIn: string;
  kubeadmDropIn: string;
  config: string;
  manifests: string;
  /** A path as this process reaches it. */
  at: (path: string) => string;
}

export function layoutOf({ prefix, destdir }: Pick<InstallerOptions, "prefix" | "destdir">): Layout {
  const home = join(prefix, "lib", "nodelet");
  const unit = join(prefix, "lib", "systemd", "system", "kubelet.service");
  return {
    home,
    record: join(home, "installed.json"),
    executable: join(prefix, "bin", "kubelet"),
    command: join(prefix, "bin", "nodelet"),
    start: join(home, "start-kubelet"),
    generator: join(prefix, "lib", "systemd", "system-generators", "nodelet-generator"),
    unit,
    standaloneDropIn: `${unit}.d/10-standalone.conf`,
    kubeadmDropIn: `${unit}.d/10-kubeadm.conf`,
    config: "/etc/nodelet/kubelet.yaml",
    manifests: "/etc/kubernetes/manifests",
    at: (path) => `${destdir}${path}`,
  };
}

/** Where a package may have put kubeadm's drop-in: then the unit starts as kubeadm wants it. */
export const KUBEADM_DROP_INS: readonly string[] = [
  "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
  "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
  "/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
];

/** Files of the kubelet below its default directories; files of other programs there are kept. */
export const STATE: readonly string[] = [
  ...[
    ...["pods", "plugins", "plugins_registry", "pod-resources", "device-plugins", "checkpoints", "pki", "nodelet"],
    ...["image_manager", "allocated_pods_state", "actuated_pods_state", "graceful_node_shutdown_state"],
    ...["cpu_manager_state", "memory_manager_state"],
  ].map((name) => `/var/lib/kubelet/${name}`),
  // How long logind is to wait for pods at the machine's end.
  "/etc/systemd/logind.conf.d/99-kubelet.conf",
  "/var/log/pods",
  "/var/log/containers",
];
export const STATE_ROOT = "/var/lib/kubelet";
