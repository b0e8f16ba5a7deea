// One pino logger per thread, writing to standard error without blocking the thread that logs.
import { destination, pino, symbols, type DestinationStream, type Logger as PinoLogger } from "pino";

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** Name of the thread that logs: "main", "pleg", "server", … */
  thread: string;
  /** pino level name; default "info". */
  level?: string;
}

/** Makes the thread's logger. Lines are JSON; records reach fd 2 asynchronously, so a slow reader never stalls a sync. */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    { level: options.level ?? "info", base: { thread: options.thread }, timestamp: pinoTimestamp },
    destination({ fd: 2, sync: false }),
  );
}

/** Writes what is still buffered, at once: for a thread about to exit, whose last lines would be lost otherwise. */
export function flushLogger(logger: Logger): void {
  const stream = (logger as unknown as Record<symbol, Partial<ReturnType<typeof destination>> & DestinationStream>)[
    symbols.streamSym
  ];
  stream?.flushSync?.();
}

function pinoTimestamp(): string {
  return `,"time":"${new Date().toISOString()}"`;
}
