// Parts of the agent that the suite expects and that this version lacks. Each entry says why its tests are skipped; when
// a part arrives its entry becomes false and its tests count.

export type Part = "notify" | "systemdDriver" | "kubeadmFlags" | "journalLines";

export const PENDING: Readonly<Record<Part, string | false>> = {
  /** READY=1, STATUS= and WATCHDOG=1 to systemd. */
  notify: "the agent does not speak to systemd's notify socket yet",
  /** Slices over D-Bus. */
  systemdDriver: "the systemd cgroup driver is refused",
  /** The flags that kubeadm's drop-in gives. */
  kubeadmFlags: "--bootstrap-kubeconfig is not a known flag",
  /** Lines in klog's shape with a syslog priority. */
  journalLines: "log lines are JSON without a priority",
};

/** For node:test's options. */
export const unless = (part: Part): { skip: string | false } => ({ skip: PENDING[part] });
