// A stand-in for iscsiadm and udev. A login makes a link to each LUN's device in a by-path directory, a logout removes
// it. The kernel's iSCSI modules are not needed. It notes its calls, and keeps interfaces and sessions in files.

import { chmod, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface IscsiTestTarget {
  /** The program; its directory belongs in PATH. */
  program: string;
  calls(): Promise<string[]>;
  /** Sessions: "portal|iface". */
  sessions(): Promise<string[]>;
  ifaces(): Promise<string[]>;
  /** Refuses the portal from now on. */
  refuse(portal: string): Promise<void>;
}

export async function iscsiTarget(
  home: string,
  { iqn, luns, byPath }: { iqn: string; luns: Readonly<Record<number, string>>; byPath: string },
): Promise<IscsiTestTarget> {
  for (const directory of ["bin", "sessions", "ifaces", "refused"])
    await mkdir(join(home, directory), { recursive: true });
  await mkdir(byPath, { recursive: true });
  const links = (act: (link: string, device: string) => string): string =>
    Object.entries(luns)
      .map(([lun, device]) => act(`"${byPath}/ip-$portal-iscsi-${iqn}-lun-${lun}"`, device))
      .join("; ");
  const script = `#!/bin/sh
home='${home}'
echo "$*" >> "$home/calls"
portal=; iface=default; operation=; mode=; action=
while [ $# -gt 0 ]; do
  case "$1" in
    -m) mode=$2; shift;;
    -p) portal=$2; shift;;
    -I) iface=$2; shift;;
    -o) operation=$2; shift;;
    -T) [ "$2" = '${iqn}' ] || { echo "no records found" >&2; exit 21; }; shift;;
    -t|-n|-v) shift;;
    --login|--logout|--discover) action=$1;;
  esac
  shift
done
session="$home/sessions/$portal|$iface"
case "$mode $operation$action" in
  "iface show")
    [ "$iface" = default ] || [ -e "$home/ifaces/$iface" ] || { echo "no interface" >&2; exit 21; }
    printf '# BEGIN RECORD\\niface.iscsi_ifacename = %s\\niface.transport_name = tcp\\niface.initiatorname = <empty>\\n' "$iface";;
  "iface new") : > "$home/ifaces/$iface";;
  "iface delete") rm "$home/ifaces/$iface" || exit 21;;
  "discoverydb --discover") [ -e "$home/refused/$portal" ] && { echo "connection timed out" >&2; exit 4; }; true;;
  "node --login")
    [ -e "$session" ] && exit 15
    : > "$session"; ${links((link, device) => `ln -sf '${device}' ${link}`)};;
  "node --logout")
    [ -e "$session" ] || exit 21
    rm "$session"; ${links((link) => `rm -f ${link}`)};;
esac
`;
  const program = join(home, "bin/iscsiadm");
  await writeFile(`${program}.new`, script);
  await chmod(`${program}.new`, 0o755);
  await rename(`${program}.new`, program);
  return {
    program,
    calls: async () =>
      (await readFile(join(home, "calls"), "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
    sessions: async () => (await readdir(join(home, "sessions"))).sort(),
    ifaces: async () => (await readdir(join(home, "ifaces"))).sort(),
    refuse: (portal) => writeFile(join(home, "refused", portal), ""),
  };
}
