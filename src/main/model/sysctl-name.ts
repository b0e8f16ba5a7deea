// Names of sysctls, and the kernel namespace that each belongs to.

/**
 * A sysctl name with dots between its parts: the first separator decides which form a name has. In the form with
 * slashes a dot belongs to a part, such as the interface "eth0.100": "net/ipv4/conf/eth0.100/x" is
 * "net.ipv4.conf.eth0/100.x".
 * Source: https://man7.org/linux/man-pages/man5/sysctl.d.5.html
 */
export function dottedSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  // The API allows 253 characters; the kernel has no longer name.
  if (separator !== "/" || name.length > 253) return name;
  return name
    .split("/")
    .map((part) => part.replaceAll(".", "/"))
    .join(".");
}

/** The kernel's namespace of a parameter; undefined: the parameter applies to the whole machine. */
export function sysctlNamespace(dotted: string): "Net" | "IPC" | undefined {
  if (dotted.startsWith("net.")) return "Net";
  return IPC.has(dotted) || dotted.startsWith("fs.mqueue.") ? "IPC" : undefined;
}

/** The two without an end are the beginnings of patterns: "kernel.shm*". */
const IPC = new Set([
  "kernel.sem",
  "kernel.shm",
  "kernel.shmall",
  "kernel.shmmax",
  "kernel.shmmni",
  "kernel.shm_rmid_forced",
  "kernel.msg",
  "kernel.msgmax",
  "kernel.msgmnb",
  "kernel.msgmni",
]);
