// The mode bits that fsGroup adds. The group may read (and write) files and enter directories, whose new files inherit
// the group.
// Invariant: no bit is removed.

import { constants } from "node:fs";

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const DIRECTORY = 0o2110;
const MODE_BITS = 0o7777;

interface Mode {
  /** With the type of the file, as stat(2) has it. */
  mode: number;
}

/** The permission bits with those of the group added. */
export function withGroupBits(stats: Mode, readOnly: boolean): number {
  return (stats.mode & MODE_BITS) | groupBits(stats, readOnly);
}

/** True when owner group and bits are as fsGroup wants them. */
export function belongsToGroup(stats: Mode & { gid: number }, group: number, readOnly: boolean): boolean {
  const bits = groupBits(stats, readOnly);
  return stats.gid === group && (stats.mode & bits) === bits;
}

function groupBits({ mode }: Mode, readOnly: boolean): number {
  return (readOnly ? READ_ONLY : READ_WRITE) | ((mode & constants.S_IFMT) === constants.S_IFDIR ? DIRECTORY : 0);
}
