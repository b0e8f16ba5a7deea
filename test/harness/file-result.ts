/** The result of one run of one test file. It crosses from a lane's process to the harness, so it is plain data. */
export interface FileResult {
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /** Title and error of each test that failed. */
  failures: string[];
  /** All that the file and the test runner printed. */
  output: string;
}

/** A file that could not run: one failure. */
export function brokenFile(reason: string, seconds = 0): FileResult {
  return { passed: 0, failed: 1, skipped: 0, seconds, failures: [reason], output: `${reason}\n` };
}
