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
