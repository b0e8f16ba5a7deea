// Prometheus text, format 0.0.4, of samples that carry times of their own.
/** Collects the rows of one page, family by family; families are shown in the order of their names. */
export class Page {
  private readonly families = new Map<string, { head: string; rows: string[] }>();

  /**
   * Rows of this family, to be pushed to. A family without rows is not shown.
   * @param help without line breaks and backslashes
   */
  family(name: string, type: "counter" | "gauge", help: string): string[] {
    let family = this.families.get(name);
    if (family === undefined) {
      family = { head: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`, rows: [] };
      this.families.set(name, family);
    }
    return family.rows;
  }

  /** One text per family, each ending in a newline. */
  *chunks(): Generator<string> {
    for (const name of [...this.families.keys()].sort()) {
      const family = this.families.get(name);
      if (family === undefined || family.rows.length === 0) continue;
      yield `${family.head}${family.rows.join("\n")}\n`;
    }
  }
}

/** `name="value",…` in the order given, without braces. */
export function labelText(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(",");
}

export function escapeLabel(text: string): string {
  return /[\\\n"]/.test(text) ? text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"') : text;
}

/** As Go's client writes numbers: an exponent of two digits from 1e+06 on, whole below. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const size = Math.abs(value);
  if (size === 0 || (size < 1e21 && size >= 1e-4 && size < 1e6)) return String(value);
  const [mantissa = "0", exponent = "+0"] = value.toExponential().split("e");
  return `${mantissa}e${exponent[0] ?? "+"}${exponent.slice(1).padStart(2, "0")}`;
}
