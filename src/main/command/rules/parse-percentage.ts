// Percentages in configuration values: "10%", "7.5%". Any number of percent signs counts as one, as upstream reads
// them.

import { withoutTrailing } from "../../../shared/base/text/without-trailing.js";
import { parseGoFloat } from "../go-float.js";

/**
 * 10 for "10%", in single precision; may be negative, above 100, infinite or no number. Undefined when the text is no
 * percentage.
 */
export function parsePercentage(text: string): number | undefined {
  return text.endsWith("%") ? parseGoFloat(withoutTrailing(text, "%"), 32) : undefined;
}

/** As qosReserved has it: a whole number from 0 to 100. */
export function parseWholePercentage(text: string): number | undefined {
  const [, digits] = /^([+-]?\d+)%+$/.exec(text) ?? [];
  const percent = Number(digits ?? NaN);
  return percent >= 0 && percent <= 100 ? percent : undefined;
}
