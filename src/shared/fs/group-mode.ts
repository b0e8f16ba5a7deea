// What fsGroup adds to the mode of a file: the group may read (and write), may enter directories, and hands itself on to
// what is made in them. Nothing is ever taken away.

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const DIRECTORY = 0o2110;
const MODE_BITS = 0o7777;

interface Mode {
  mode: number;
  isDirectory(): boolean;
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

function groupBits(stats: Mode, readOnly: boolean): number {
  return (readOnly ? READ_ONLY : READ_WRITE) | (stats.isDirectory() ? DIRECTORY : 0);
}
