// Times of RFC 3339 as Go's time.Parse reads them with the layouts RFC3339 and RFC3339Nano: a day or an hour that does
// not exist is refused, an hour may have one digit, and a comma may stand for the point
// (https://pkg.go.dev/time#Parse). JavaScript's Date.parse has 30 February be 2 March, and 24:00 the next day.

/** One object may be used again for every time that is read. */
export interface GoTime {
  /** Since the epoch. */
  seconds: number;
  nanos: number;
}

/** Reads the text of bytes[from, to); false if it is no time, and then `into` has no meaning. */
export function readGoTime(bytes: Uint8Array, from: number, to: number, into: GoTime): boolean {
  const year = pair(bytes, from) * 100 + pair(bytes, from + 2);
  const month = pair(bytes, from + 5);
  const day = pair(bytes, from + 8);
  if (bytes[from + 4] !== DASH || bytes[from + 7] !== DASH || bytes[from + 10] !== LETTER_T) return false;
  if (!within(month, 1, 12) || !within(day, 1, daysIn(month, year))) return false;
  const isTwoDigits = !Number.isNaN(digit(bytes[from + 12]));
  const hour = isTwoDigits ? pair(bytes, from + 11) : digit(bytes[from + 11]);
  let at = from + (isTwoDigits ? 13 : 12);
  const minute = pair(bytes, at + 1);
  const second = pair(bytes, at + 4);
  if (bytes[at] !== COLON || bytes[at + 3] !== COLON) return false;
  if (!within(hour, 0, 23) || !within(minute, 0, 59) || !within(second, 0, 59)) return false;
  at += 6;
  const fraction = fractionEnd(bytes, at);
  into.nanos = nanosOf(bytes, at + 1, fraction);
  const offset = offsetMinutes(bytes, fraction, to);
  into.seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
  return !Number.isNaN(into.seconds);
}

const found: GoTime = { seconds: 0, nanos: 0 };

/** Milliseconds since the epoch; undefined if the text is no time. */
export function goTimeMs(text: string): number | undefined {
  const bytes = Buffer.from(text.length > LONGEST ? "" : text);
  if (!readGoTime(bytes, 0, bytes.length, found)) return undefined;
  return found.seconds * 1000 + Math.floor(found.nanos / 1e6);
}

/** Far more than any program writes. */
const LONGEST = 128;

const DASH = 0x2d;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const POINT = 0x2e;
const COMMA = 0x2c;
const PLUS = 0x2b;

/** NaN: no digit. */
function digit(byte: number | undefined): number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : NaN;
}

function pair(bytes: Uint8Array, at: number): number {
  return digit(bytes[at]) * 10 + digit(bytes[at + 1]);
}

function within(value: number, low: number, high: number): boolean {
  return value >= low && value <= high;
}

function fractionEnd(bytes: Uint8Array, start: number): number {
  const isPoint = bytes[start] === POINT || bytes[start] === COMMA;
  if (!isPoint || Number.isNaN(digit(bytes[start + 1]))) return start;
  let end = start + 2;
  while (!Number.isNaN(digit(bytes[end]))) end++;
  return end;
}

/** Digits beyond the ninth are cut off. */
function nanosOf(bytes: Uint8Array, from: number, to: number): number {
  let nanos = 0;
  for (let at = from; at < from + 9; at++) nanos = nanos * 10 + (at < to ? digit(bytes[at]) : 0);
  return nanos;
}

/** Minutes to the east; NaN if that is no zone, or if more follows. */
function offsetMinutes(bytes: Uint8Array, at: number, to: number): number {
  const sign = bytes[at];
  if (sign === LETTER_Z) return at + 1 === to ? 0 : NaN;
  if ((sign !== PLUS && sign !== DASH) || at + 6 !== to || bytes[at + 3] !== COLON) return NaN;
  const [hours, minutes] = [pair(bytes, at + 1), pair(bytes, at + 4)];
  // As Go: one more of each than there is.
  if (!within(hours, 0, 24) || !within(minutes, 0, 60)) return NaN;
  return (sign === PLUS ? 1 : -1) * (hours * 60 + minutes);
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysIn(month: number, year: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

/** In years that begin in March a leap day is the last day. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const daysBefore = Math.floor((153 * ((month + 9) % 12) + 2) / 5);
  return years * 365 + leapDays + daysBefore + day - 719_469;
}
