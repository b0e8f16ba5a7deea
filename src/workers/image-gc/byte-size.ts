// Formats bytes for messages.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** 1610612736 → "1.5 GiB" */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
