// Ages as kubectl and the server print them: one or two units, the coarser the older.

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
const YEAR = 365 * DAY;

/** How long ago a time of an object was. */
export function ageOf(time: unknown, now: number): string {
  const at = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(at) ? "<unknown>" : ageText((now - at) / 1000);
}

function ageText(exact: number): string {
  const seconds = Math.floor(exact);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, MINUTE, "m", 1, "s");
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, HOUR, "h", MINUTE, "m");
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, DAY, "d", HOUR, "h");
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, YEAR, "y", DAY, "d");
  return `${Math.floor(seconds / YEAR)}y`;
}

function pair(seconds: number, whole: number, wholeUnit: string, part: number, partUnit: string): string {
  const rest = Math.floor((seconds % whole) / part);
  return `${Math.floor(seconds / whole)}${wholeUnit}${rest === 0 ? "" : `${rest}${partUnit}`}`;
}
