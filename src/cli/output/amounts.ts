// Durations, moments and sizes as operators read them. Pure.

/** "5s", "3m12s", "4h5m", "12d": two units at most, as kubectl has it. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

/** "2026-01-02 03:04:05Z" */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** "for 3m12s, since 2026-01-02 03:04:05Z" */
export function since(ms: number, now: number): string {
  return `for ${duration(now - ms)}, since ${moment(ms)}`;
}

/** "in 12s", or "now". */
export function until(ms: number, now: number): string {
  return ms - now < 1000 ? "now" : `in ${duration(ms - now)}`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(amount: number): string {
  let value = amount;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** Time of an API object; undefined for none. */
export function timeOf(text: string | null | undefined): number | undefined {
  const ms = text == null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const MS_OF: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** "1h30m", "0s"; undefined for other text. */
export function durationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s)){1,4}$/.test(text)) return undefined;
  return [...text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s)/g)].reduce(
    (sum, [, amount, unit = ""]) => sum + Number(amount) * (MS_OF[unit] ?? 0),
    0,
  );
}
