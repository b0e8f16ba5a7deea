// A record of a log ring: one byte for the severity, then the line with its line feed.

/** Neither a warning nor worse. */
export const RECORD_INFO = 0;
export const RECORD_SEVERE = 1;
