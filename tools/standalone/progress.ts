// A user who waits must see what for. A step is named when it begins and timed when it ends;
// on a terminal the seconds count up meanwhile, in a log file nothing is repeated more than every ten seconds.
// A step may say what it is at; only the newest of it is shown.

/** Where progress goes: standard error, so that standard output carries results only. */
export interface ProgressSink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const TERMINAL_TICK_MS = 200;
const LOG_TICK_MS = 10_000;
const FALLBACK_COLUMNS = 80;

/** Says what a step is at, in a few words. */
export type Note = (text: string) => void;

/** How {@link step} looks to those who get it passed. */
export type Step = <T>(name: string, work: (note: Note) => Promise<T>) => Promise<T>;

/** Runs `work` as a named step. Throws what `work` throws, after marking the step as failed. */
export async function step<T>(
  name: string,
  work: (note: Note) => Promise<T>,
  sink: ProgressSink = process.stderr,
): Promise<T> {
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const terminal = sink.isTTY === true;
  let at = "";
  const line = (): string => `  … ${name} ${seconds()}${at}`.slice(0, (sink.columns ?? FALLBACK_COLUMNS) - 1);
  const draw = (): unknown => sink.write(terminal ? `\r\u001b[K${line()}` : `  … ${name}\n`);
  draw();
  const timer = setInterval(
    () => (terminal ? draw() : sink.write(`  … ${name}, still at it after ${seconds()}${at}\n`)),
    terminal ? TERMINAL_TICK_MS : LOG_TICK_MS,
  );
  const finish = (mark: string): unknown => {
    clearInterval(timer);
    return sink.write(`${terminal ? "\r\u001b[K" : ""}  ${mark} ${name} (${seconds()})\n`);
  };
  try {
    const result = await work((text) => (at = `: ${text}`));
    finish("✓");
    return result;
  } catch (error) {
    finish("✗");
    throw error;
  }
}
