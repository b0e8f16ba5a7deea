// Percentages in configuration values: "10%", "7.5%".

const PERCENTAGE = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)%+$/;

/** 10 for "10%"; may be negative or above 100. Undefined when the text is no percentage. */
export function parsePercentage(text: string): number | undefined {
  const number = PERCENTAGE.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}
