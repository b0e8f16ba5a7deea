// A user who waits must see what for. A step is named when it begins and timed when it ends;
// on a terminal the seconds count up meanwhile, in a log file nothing is repeated more than every ten seconds.

/** Where progress goes: standard error, so that standard output carries results only. */
export interface ProgressSink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const TERMINAL_TICK_MS = 200;
const LOG_TICK_MS = 10_000;

/** Runs `work` as a named step. Throws what `work` throws, after marking the step as failed. */
export async function step<T>(name: string, work: () => Promise<T>, sink: ProgressSink = process.stderr): Promise<T> {
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const terminal = sink.isTTY === true;
  const draw = (): unknown => sink.write(terminal ? `\r\u001b[K  … ${name} ${seconds()}` : `  … ${name}\n`);
  draw();
  const timer = setInterval(
    () => (terminal ? draw() : sink.write(`  … ${name}, still at it after ${seconds()}\n`)),
    terminal ? TERMINAL_TICK_MS : LOG_TICK_MS,
  );
  const finish = (mark: string): unknown => {
    clearInterval(timer);
    return sink.write(`${terminal ? "\r\u001b[K" : ""}  ${mark} ${name} (${seconds()})\n`);
  };
  try {
    const result = await work();
    finish("✓");
    return result;
  } catch (error) {
    finish("✗");
    throw error;
  }
}
