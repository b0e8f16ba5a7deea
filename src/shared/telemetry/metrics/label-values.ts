// Values of a label that others choose: a pod names drivers and runtime classes, a runtime names reasons. A counter and
// a histogram keep a series for each value until the process ends.

const MOST_VALUES = 256;
const LONGEST_VALUE = 256;
const OTHER = "other";

/** The values of one label. Those beyond the first ones, and long ones, are counted together. */
export class LabelValues {
  private readonly known = new Set<string>();

  of(value: string): string {
    if (this.known.has(value)) return value;
    if (this.known.size >= MOST_VALUES || value.length > LONGEST_VALUE) return OTHER;
    this.known.add(value);
    return value;
  }
}
