// Flags that units in the field carry and that do nothing here: what cAdvisor brought along upstream, and what only
// Windows has. They are accepted, so that a unit starts unchanged.
import { flag, type Flag, type Flags } from "./flag.js";

const WINDOWS = "win32";

export const WINDOWS_ONLY: Flags = {
  "windows-priorityclass": flag("string", "NORMAL_PRIORITY_CLASS", "priority class of the agent's process", {
    platform: WINDOWS,
  }),
  "windows-service": flag("bool", "false", "run under the Service Control Manager", { platform: WINDOWS }),
};

const NO_CADVISOR = "leave it out: there is no cAdvisor in this agent";
const NO_STORAGE = "leave it out: scrape the agent's metrics instead of having them written to a database";

function leftover(kind: Flag["kind"], value: string, help: string, deprecated = NO_CADVISOR): Flag {
  return flag(kind, value, help, { deprecated });
}

export const LEFTOVERS: Flags = {
  "housekeeping-interval": flag("duration", "10s", "time between two samples of a container in cAdvisor"),
  "max-housekeeping-interval": flag("duration", "15s", "longest time between two samples in cAdvisor"),
  "application-metrics-count-limit": leftover("int64", "100", "application metrics kept per container"),
  "boot-id-file": leftover("string", "/proc/sys/kernel/random/boot_id", "files to look for the boot ID in"),
  "container-hints": leftover("string", "/etc/cadvisor/container_hints.json", "file of container hints"),
  containerd: leftover(
    "string",
    "/run/containerd/containerd.sock",
    "socket of containerd for cAdvisor",
    "set containerRuntimeEndpoint in the file given by --config",
  ),
  "containerd-namespace": leftover("string", "k8s.io", "namespace of containerd for cAdvisor"),
  "enable-load-reader": leftover("bool", "false", "read the CPU load of containers"),
  "event-storage-age-limit": leftover("string", "default=0", "how long cAdvisor keeps events"),
  "event-storage-event-limit": leftover("string", "default=0", "how many events cAdvisor keeps"),
  "global-housekeeping-interval": leftover("duration", "1m0s", "time between two rounds of cAdvisor"),
  "log-cadvisor-usage": leftover("bool", "false", "log the usage of cAdvisor's own container"),
  "machine-id-file": leftover(
    "string",
    "/etc/machine-id,/var/lib/dbus/machine-id",
    "files to look for the machine ID in",
  ),
  "storage-driver-buffer-duration": leftover("duration", "1m0s", "time between two writes to the database", NO_STORAGE),
  "storage-driver-db": leftover("string", "cadvisor", "name of the database", NO_STORAGE),
  "storage-driver-host": leftover("string", "localhost:8086", "host and port of the database", NO_STORAGE),
  "storage-driver-password": { ...leftover("string", "root", "password of the database", NO_STORAGE), secret: true },
  "storage-driver-secure": leftover("bool", "false", "reach the database by TLS", NO_STORAGE),
  "storage-driver-table": leftover("string", "stats", "table of the database", NO_STORAGE),
  "storage-driver-user": leftover("string", "root", "user of the database", NO_STORAGE),
};
