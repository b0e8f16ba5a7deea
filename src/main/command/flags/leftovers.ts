// Flags of upstream's that do nothing here: those of cAdvisor, and those for Windows only. They are accepted, so that
// existing systemd units work unchanged.

import { flag, type Flag, type Flags } from "./flag.js";

const WINDOWS = "win32";

export const WINDOWS_ONLY: Flags = {
  "windows-priorityclass": flag("string", "NORMAL_PRIORITY_CLASS", "priority class of the kubelet process", {
    platform: WINDOWS,
  }),
  "windows-service": flag("bool", "false", "run as a Windows service", { platform: WINDOWS }),
};

const NO_CADVISOR = "remove it: this kubelet has no cAdvisor";
const NO_STORAGE = "remove it: scrape the kubelet's metrics instead";

function leftover(kind: Flag["kind"], value: string, help: string, deprecated = NO_CADVISOR): Flag {
  return flag(kind, value, help, { deprecated });
}

export const LEFTOVERS: Flags = {
  "housekeeping-interval": flag("duration", "10s", "period between two samples of a container in cAdvisor"),
  "max-housekeeping-interval": flag("duration", "15s", "maximum period between two samples in cAdvisor"),
  "application-metrics-count-limit": leftover("int64", "100", "maximum number of application metrics per container"),
  "boot-id-file": leftover("string", "/proc/sys/kernel/random/boot_id", "files that may contain the boot ID"),
  "container-hints": leftover("string", "/etc/cadvisor/container_hints.json", "file with container hints"),
  containerd: leftover(
    "string",
    "/run/containerd/containerd.sock",
    "socket of containerd for cAdvisor",
    "set containerRuntimeEndpoint in the file given by --config",
  ),
  "containerd-namespace": leftover("string", "k8s.io", "namespace of containerd for cAdvisor"),
  "enable-load-reader": leftover("bool", "false", "read the CPU load of containers"),
  "event-storage-age-limit": leftover("string", "default=0", "maximum age of stored cAdvisor events"),
  "event-storage-event-limit": leftover("string", "default=0", "maximum number of stored cAdvisor events"),
  "global-housekeeping-interval": leftover(
    "duration",
    "1m0s",
    "period between two global housekeeping rounds of cAdvisor",
  ),
  "log-cadvisor-usage": leftover("bool", "false", "log the usage of cAdvisor's own container"),
  "machine-id-file": leftover(
    "string",
    "/etc/machine-id,/var/lib/dbus/machine-id",
    "files that may contain the machine ID",
  ),
  "storage-driver-buffer-duration": leftover(
    "duration",
    "1m0s",
    "period between two writes to the database",
    NO_STORAGE,
  ),
  "storage-driver-db": leftover("string", "cadvisor", "name of the database", NO_STORAGE),
  "storage-driver-host": leftover("string", "localhost:8086", "host and port of the database", NO_STORAGE),
  "storage-driver-password": { ...leftover("string", "root", "password of the database", NO_STORAGE), secret: true },
  "storage-driver-secure": leftover("bool", "false", "use TLS for the database", NO_STORAGE),
  "storage-driver-table": leftover("string", "stats", "table of the database", NO_STORAGE),
  "storage-driver-user": leftover("string", "root", "user of the database", NO_STORAGE),
};
