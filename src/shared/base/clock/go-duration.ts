// Durations in messages, as Go prints them: clients and people match on "1m20s", not on "80s".

/** "0s", "500ms", "1.5s", "10s", "1m20s", "5m0s", "1h0m0s". Whole milliseconds in; negative values get a minus. */
export function goDuration(ms: number): string {
  const total = Math.round(Math.abs(ms));
  const sign = ms < 0 && total > 0 ? "-" : "";
  if (total === 0) return "0s";
  if (total < 1000) return `${sign}${total}ms`;
  const hours = Math.floor(total / 3600000);
  const minutes = Math.floor((total % 3600000) / 60000);
  const seconds = `${(total % 60000) / 1000}s`;
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}
