// Masks secrets in /proc/<pid>/mountinfo. Pure. Options of file systems may hold passwords, sources may hold servers
// and users: only what is known to be harmless stays.

import { MASK, maskText } from "./mask-text.js";

/** Options that say how, and not where or who. */
const SHOWN_OPTIONS = new Set([
  ...["size", "mode", "nr_inodes", "nr_blocks", "uid", "gid", "huge", "mpol", "ptmxmode", "errors", "data", "commit"],
  ...["rsize", "wsize", "timeo", "retrans", "vers", "proto", "sec", "port", "acregmin", "acregmax", "lookupcache"],
  ...[
    "stripe",
    "logbufs",
    "logbsize",
    "sunit",
    "swidth",
    "codepage",
    "iocharset",
    "shortname",
    "compress",
    "space_cache",
  ],
  ...["lowerdir", "upperdir", "workdir", "index", "xino", "redirect_dir", "metacopy", "fsc", "local_lock", "max_read"],
  ...["user_id", "group_id", "name", "subvolid", "subvol", "pid_max", "hidepid", "fd", "pgrp", "timeout", "minproto"],
]);
/** A device, or the word of a file system without one. */
const LOCAL_SOURCE = /^(?:\/dev\/[\w/.+:-]{1,256}|[\w.-]{1,64})$/;
const MAX_VALUE = 200;

export function maskMounts(mountinfo: string): string {
  return mountinfo.split("\n").map(maskMount).join("\n");
}

function maskMount(line: string): string {
  if (line.trim() === "") return line;
  const [before = "", after] = line.split(" - ", 2);
  // Another form than the kernel's.
  if (after === undefined) return maskText(line);
  const [type = "", source = "", options = ""] = after.split(" ");
  const [id = "", parent = "", device = "", root = "", point = "", own = "", ...fields] = before.split(" ");
  const shown = [id, parent, device, maskText(root), maskText(point), maskOptions(own), ...fields.map(maskText)];
  return `${shown.join(" ")} - ${type} ${LOCAL_SOURCE.test(source) ? source : MASK} ${maskOptions(options)}`;
}

function maskOptions(options: string): string {
  return options
    .split(",")
    .map((option) => {
      const equals = option.indexOf("=");
      // A list of layers has thousands of characters.
      if (equals < 0) return option.length > MAX_VALUE ? MASK : maskText(option);
      const name = option.slice(0, equals);
      if (!SHOWN_OPTIONS.has(name)) return `${name.slice(0, MAX_VALUE)}=${MASK}`;
      return maskText(option.length > MAX_VALUE ? `${option.slice(0, MAX_VALUE)}…` : option);
    })
    .join(",");
}
