// Conditions that a client sets for a file (RFC 9110, section 13), as Go's file server checks them. Files of the log
// folder have a date and no entity tag.

import type { IncomingHttpHeaders } from "node:http";

type Verdict = "send" | "unchanged" | "failed";

export interface Conditions {
  readonly verdict: Verdict;
  /** The Range header, if it holds for this state of the file. */
  readonly range: string | undefined;
}

/** @param modified milliseconds since the epoch, in whole seconds; 0: unknown */
export function conditionsOf(headers: IncomingHttpHeaders, modified: number): Conditions {
  const verdict = verdictOf(headers, modified);
  const { range } = headers;
  const since = headers["if-range"]?.toString();
  const isStale = since !== undefined && since !== "" && httpDate(since) !== modified;
  return { verdict, range: isStale ? undefined : range };
}

/** For the listing of a folder, of which no other condition counts. */
export function isUnchanged(headers: IncomingHttpHeaders, modified: number): boolean {
  return isAfter(modified, headers["if-modified-since"]) === false;
}

function verdictOf(headers: IncomingHttpHeaders, modified: number): Verdict {
  const [match, noneMatch] = [headers["if-match"] ?? "", headers["if-none-match"] ?? ""];
  if (match !== "") {
    if (!namesAny(match)) return "failed";
  } else if (isAfter(modified, headers["if-unmodified-since"]) === true) return "failed";
  if (noneMatch !== "") return namesAny(noneMatch) ? "unchanged" : "send";
  return isAfter(modified, headers["if-modified-since"]) === false ? "unchanged" : "send";
}

/** A star in a list of entity tags, before anything that is none. */
function namesAny(list: string): boolean {
  return /^(?:[ \t,]|(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*\*/.test(list);
}

/** undefined: nothing is known, or no condition is set. */
function isAfter(modified: number, date: string | undefined): boolean | undefined {
  const limit = date === undefined || modified === 0 ? undefined : httpDate(date);
  return limit === undefined ? undefined : modified > limit;
}

const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const TIME = "\\d\\d:\\d\\d:\\d\\d";
const DAYS = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const IMF = new RegExp(`^${DAYS}, (\\d\\d (?:${MONTHS}) \\d{4} ${TIME}) GMT$`);
const RFC_850 = new RegExp(`^[A-Z][a-z]+day, (\\d\\d)-(${MONTHS})-(\\d\\d) (${TIME}) GMT$`);
const ASCTIME = new RegExp(`^${DAYS} (${MONTHS}) ([ \\d]\\d) (${TIME}) (\\d{4})$`);
/** Years of two digits from here on are of the last century. */
const CENTURY = 69;

/** The three forms of a date in HTTP, in milliseconds since the epoch. */
function httpDate(text: string): number | undefined {
  const imf = IMF.exec(text)?.[1];
  if (imf !== undefined) return parsed(imf);
  const [, day850 = "", month850 = "", year = "", time850 = ""] = RFC_850.exec(text) ?? [];
  if (year !== "") return parsed(`${day850} ${month850} ${Number(year) >= CENTURY ? 19 : 20}${year} ${time850}`);
  const [, month = "", day = "", time = "", fullYear = ""] = ASCTIME.exec(text) ?? [];
  return fullYear === "" ? undefined : parsed(`${day.trim()} ${month} ${fullYear} ${time}`);
}

function parsed(text: string): number | undefined {
  const ms = Date.parse(`${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}
