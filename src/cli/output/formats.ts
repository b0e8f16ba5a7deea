// The forms of the output, for -o.
export const FORMATS = ["table", "wide", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];
