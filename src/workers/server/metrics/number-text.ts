// Numbers of metrics pages as Go's client writes them. Queries select buckets by the text of their bounds.

/** As Go's client writes numbers: an exponent of two digits from 1e+06 on, whole below. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size === 0 || (size < 1e21 && size >= 1e-4 && size < 1e6)) return String(value);
  const [mantissa = "0", exponent = "+0"] = value.toExponential().split("e");
  return `${mantissa}e${exponent[0] ?? "+"}${exponent.slice(1).padStart(2, "0")}`;
}
