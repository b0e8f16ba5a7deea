// Durations of the command line as kubectl reads them: Go's, such as "5m", "1h30m" or "1.5h"; and whole seconds without
// a unit. Pure. https://pkg.go.dev/time#ParseDuration

import { CliError, EXIT } from "../errors.js";

const MS_OF: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const MOST_LENGTH = 40;
const WHOLE = /^\+?(?:\d+(?:\.\d*)?(?:ns|[u\u00b5\u03bc]s|ms|s|m|h))+$/;
const PART = /([\d.]{1,40})(ns|[u\u00b5\u03bc]s|ms|s|m|h)/g;

/** @throws CliError that names the option */
export function goDurationMs(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (text.length > MOST_LENGTH || !WHOLE.test(text)) {
    throw new CliError(
      EXIT.usage,
      `${option} ${JSON.stringify(text.slice(0, MOST_LENGTH))} is no duration`,
      "give one such as 30s, 5m or 1h30m",
    );
  }
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount, unit = ""]) => sum + Number(amount) * (MS_OF[unit.replace(/^[\u00b5\u03bc]/, "u")] ?? 0),
    0,
  );
}

/** A whole number of at least `least`. @throws CliError that names the option */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (number >= least) return number;
  throw new CliError(EXIT.usage, `${option} ${JSON.stringify(text)} is no whole number of at least ${least}`);
}
