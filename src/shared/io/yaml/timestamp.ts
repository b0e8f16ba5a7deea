const FORMAT =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?(Z|[-+](\d\d):(\d\d)))|(?: +(\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?))?$/;

/** A date, or a date with a time, as go-yaml reads the tag !!timestamp. */
export function isTimestamp(text: string): boolean {
  const match = FORMAT.exec(text);
  if (match === null) return false;
  const [year, month, day] = [1, 2, 3].map((group) => Number(match[group])) as [number, number, number];
  const [hour, minute, second] = [4, 5, 6].map((group) => Number(match[group] ?? match[group + 7] ?? 0)) as [
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  return Number(match[9] ?? 0) <= 24 && Number(match[10] ?? 0) < 60;
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}
