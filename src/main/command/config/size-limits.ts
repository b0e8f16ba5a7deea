// Limits of configurations: a mistake, such as a disk in place of a file, ends in a message.

/** Bytes of one file. */
export const SIZE_LIMIT = 10 * 1024 * 1024;

/** Bytes of all files together. */
export const SUM_LIMIT = 32 * 1024 * 1024;

/** Problems of one file that a start tolerates, and as many others. The last one counts the rest. */
export const MOST_PROBLEMS = 100;

/** Those of all files together, again of both kinds. */
export const MOST_OF_ALL = 1000;
