// The check of the cgroup driver: kubelet and runtime name the cgroups of pods in the same way. Pure.
import { bad, ok, type Machine, type Result } from "./check.js";

const CHECK = "cgroup driver";

/** None if the runtime tells the kubelet its driver, or is not there. */
export function cgroupDriver({ settings, kubelet }: Machine): Result[] {
  const driver = settings?.cgroupDriver;
  if (driver === undefined) return [];
  if (driver === kubelet.cgroupDriver) return [ok(CHECK, driver)];
  const systemd = driver === "systemd";
  return [
    bad(
      "error",
      CHECK,
      `the kubelet has ${kubelet.cgroupDriver}, containerd ${driver} (SystemdCgroup = ${String(systemd)})`,
      "containers do not start, or escape the limits of their pod",
      `sed -i '/^cgroupDriver:/d' ${kubelet.file} && echo 'cgroupDriver: ${driver}' >>${kubelet.file} && systemctl restart kubelet`,
    ),
  ];
}
