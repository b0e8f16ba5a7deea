// Names of a container's log files, written by rotation and parsed by log readers. The runtime writes N.log.
// N.log.YYYYMMDD-HHMMSS is a rotated file; with .gz it is compressed.
// Invariant: rotated names sort by age.

/** One file of a run's log. `stem` is the rotation's time, without .gz; undefined for the file being written. */
export interface LogFileName {
  readonly name: string;
  readonly stem: string | undefined;
  readonly compressed: boolean;
}

export const COMPRESSED = ".gz";
/** Ends the names of files that are not whole yet. */
export const UNFINISHED = ".tmp";
const STEM = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/;

/** The file that the runtime writes. */
export function currentName(restartCount: number): string {
  return `${restartCount}.log`;
}

/**
 * The log files of `current` among a folder's names, oldest first, the current one last. A file that exists both plain
 * and compressed is returned once, plain: its compression stopped after the rename.
 */
export function logFileNames(names: readonly string[], current: string): LogFileName[] {
  const found = new Map<string, LogFileName>();
  for (const name of names) {
    const stem = stemOf(name, current);
    if (stem === undefined) continue;
    const compressed = name.endsWith(COMPRESSED);
    if (!compressed || !found.has(stem)) found.set(stem, { name, stem, compressed });
  }
  const rotated = [...found.keys()].sort().flatMap((stem) => found.get(stem) ?? []);
  return names.includes(current) ? [...rotated, { name: current, stem: undefined, compressed: false }] : rotated;
}

/** Files of an interrupted rotation: unfinished files, and plain files that also exist compressed. */
export function strayNames(names: readonly string[], current: string): string[] {
  const all = new Set(names);
  return names.filter((name) =>
    name.endsWith(UNFINISHED)
      ? stemOf(name.slice(0, -UNFINISHED.length), current) !== undefined
      : !name.endsWith(COMPRESSED) && stemOf(name, current) !== undefined && all.has(name + COMPRESSED),
  );
}

/**
 * The stem of a file rotated now: the local time, but always later than the newest file's. So a second rotation within
 * a second, or a clock set back, loses neither a file nor the order.
 */
export function nextStem(now: Date, newest: string | undefined): string {
  const local = Date.UTC(
    now.getFullYear(),
    now.getMonth(),
    now.getDate(),
    now.getHours(),
    now.getMinutes(),
    now.getSeconds(),
  );
  const parts = newest === undefined ? null : STEM.exec(newest);
  if (parts === null) return formatStem(local);
  // Wall clock digits are incremented without a time zone: an hour that comes twice must not stop the count.
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(Number);
  return formatStem(Math.max(local, Date.UTC(year, month - 1, day, hours, minutes, seconds) + 1000));
}

function formatStem(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
}

function stemOf(name: string, current: string): string | undefined {
  if (!name.startsWith(`${current}.`)) return undefined;
  const rest = name.slice(current.length + 1);
  const stem = rest.endsWith(COMPRESSED) ? rest.slice(0, -COMPRESSED.length) : rest;
  return STEM.test(stem) ? stem : undefined;
}
