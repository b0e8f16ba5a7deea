// Times of RFC 3339 as Go's time.Parse reads them with the layouts RFC3339 and RFC3339Nano: a day or an hour that does
// not exist is refused, an hour may have one digit, and a comma may stand for the point
// (https://pkg.go.dev/time#Parse). JavaScript's Date.parse has 30 February be 2 March, and 24:00 the next day.
// Each line of a log has one, so the common ones are decided by one expression.

export interface GoTime {
  /** Since the epoch. */
  seconds: number;
  nanos: number;
}

/** As it is written. */
export interface GoTimeParts {
  date: string;
  hour: string;
  /** ":05:07" */
  minuteAndSecond: string;
  /** Digits behind the point; "": none. */
  fraction: string;
  /** To the east. */
  offsetMinutes: number;
}

/** Far more than any program writes. */
const LONGEST = 128;

/** The offset, as Go, may have one hour and one minute more than there are. */
const TIME =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T(\d|[01]\d|2[0-3])((?::[0-5]\d){2})(?:[.,](\d+))?(?:Z|([+-])([01]\d|2[0-4]):([0-5]\d|60))$/;

export function isGoTime(text: string): boolean {
  return text.length <= LONGEST && TIME.test(text) && isDay(text);
}

/** undefined: the text is no time. */
export function goTimeParts(text: string): GoTimeParts | undefined {
  const parts = isGoTime(text) ? TIME.exec(text) : null;
  if (parts === null) return undefined;
  const [, date = "", hour = "", minuteAndSecond = "", fraction = "", sign = "", hours = "0", minutes = "0"] = parts;
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return { date, hour, minuteAndSecond, fraction, offsetMinutes };
}

/** undefined: the text is no time. Digits of the fraction beyond the ninth are cut off. */
export function readGoTime(text: string): GoTime | undefined {
  const parts = goTimeParts(text);
  if (parts === undefined) return undefined;
  const { date, hour, minuteAndSecond, fraction, offsetMinutes } = parts;
  const ms = Date.parse(`${date}T${hour.padStart(2, "0")}${minuteAndSecond}Z`);
  return { seconds: ms / 1000 - offsetMinutes * 60, nanos: Number(fraction.slice(0, 9).padEnd(9, "0")) };
}

/** Milliseconds since the epoch; undefined if the text is no time. */
export function goTimeMs(text: string): number | undefined {
  const time = readGoTime(text);
  return time === undefined ? undefined : time.seconds * 1000 + Math.floor(time.nanos / 1e6);
}

/** The month has that day. `text` is a date of the expression's, and more. */
function isDay(text: string): boolean {
  const day = text.slice(8, 10);
  return day <= "28" || Number(day) <= daysIn(Number(text.slice(5, 7)), Number(text.slice(0, 4)));
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysIn(month: number, year: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}
