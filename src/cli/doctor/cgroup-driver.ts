// The check of the cgroup driver: kubelet and runtime name the cgroups of pods in the same way. Pure.

import { bad, ok, type Machine, type Result } from "./check.js";

const CHECK = "cgroup driver";
const CONFIG = "/etc/containerd/config.toml";
const NEW = `${CONFIG}.new`;

/** None if the runtime tells the kubelet its driver, or is not there. */
export function cgroupDriver({ settings, kubelet, mode }: Machine): Result[] {
  const driver = settings?.cgroupDriver;
  if (driver === undefined) return [];
  if (driver === kubelet.cgroupDriver) return [ok(CHECK, driver)];
  const who = kubelet.expected ? "kubeadm gives the kubelet" : "the kubelet has";
  return [
    bad(
      "error",
      CHECK,
      `${who} ${kubelet.cgroupDriver}, containerd ${has(driver)}`,
      "containers do not start, or escape the limits of their pod",
      mode === "cluster" ? ofRuntime(driver) : ofKubelet(kubelet.file, driver),
    ),
  ];
}

const has = (driver: string): string => `${driver} (SystemdCgroup = ${String(driver === "systemd")})`;

function ofKubelet(file: string, driver: string): string {
  return `sed -i '/^cgroupDriver:/d' ${file} && echo 'cgroupDriver: ${driver}' >>${file} && systemctl restart kubelet`;
}

/** The cluster's ConfigMap says what the kubelet has: kubeadm writes it again with each upgrade. */
function ofRuntime(driver: string): string {
  const now = driver === "systemd";
  // The dump names the file itself among its imports.
  const edit = `sed -e '/^imports = /d' -e 's/SystemdCgroup = ${String(now)}/SystemdCgroup = ${String(!now)}/'`;
  return `containerd config dump | ${edit} >${NEW} && mv ${NEW} ${CONFIG} && systemctl restart containerd`;
}
