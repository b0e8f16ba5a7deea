// The options of a log request: v1.PodLogOptions, with upstream's validation.

import { LogOptionsError } from "./errors.js";
import { stampNanos } from "./line-time.js";
import { STDERR, STDOUT, type LogStream } from "./record-scanner.js";

/** The part of v1.PodLogOptions that the reading itself follows; names and meanings are the API's. */
export interface PodLogOptions {
  follow?: boolean | undefined;
  /** The run before this one. */
  previous?: boolean | undefined;
  sinceSeconds?: number | undefined;
  /** RFC 3339. */
  sinceTime?: string | undefined;
  timestamps?: boolean | undefined;
  tailLines?: number | undefined;
  limitBytes?: number | undefined;
  /** Default All. */
  stream?: "All" | "Stdout" | "Stderr" | undefined;
}

export interface CheckedLogOptions {
  follow: boolean;
  previous: boolean;
  sinceNanos: bigint | undefined;
  timestamps: boolean;
  tailLines: number | undefined;
  limitBytes: number | undefined;
  stream: LogStream | undefined;
}

/** @param nowNanos nanoseconds since the epoch, for sinceSeconds. @throws LogOptionsError */
export function checkLogOptions(options: PodLogOptions, nowNanos: bigint): CheckedLogOptions {
  const { sinceSeconds, sinceTime, tailLines, limitBytes, stream = "All" } = options;
  whole("tailLines", tailLines, 0);
  whole("limitBytes", limitBytes, 1);
  whole("sinceSeconds", sinceSeconds, 1);
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    throw new LogOptionsError("sinceTime", "and sinceSeconds exclude each other: give one of them");
  }
  if (!Object.hasOwn(STREAMS, stream)) {
    throw new LogOptionsError("stream", `${JSON.stringify(stream)} is none of All, Stdout, Stderr`);
  }
  if (stream !== "All" && tailLines !== undefined) {
    throw new LogOptionsError("tailLines", `can't be given with stream ${stream}: leave one of them out`);
  }
  return {
    follow: options.follow ?? false,
    previous: options.previous ?? false,
    sinceNanos: since(sinceSeconds, sinceTime, nowNanos),
    timestamps: options.timestamps ?? false,
    tailLines,
    limitBytes,
    stream: STREAMS[stream],
  };
}

const STREAMS = { All: undefined, Stdout: STDOUT, Stderr: STDERR } as const;

function since(seconds: number | undefined, time: string | undefined, nowNanos: bigint): bigint | undefined {
  if (seconds !== undefined) return nowNanos - BigInt(seconds) * 1_000_000_000n;
  if (time === undefined) return undefined;
  const nanos = stampNanos(time);
  if (nanos === undefined) {
    throw new LogOptionsError("sinceTime", `${JSON.stringify(time)} is not a time such as 2026-01-02T15:04:05Z`);
  }
  return nanos;
}

function whole(field: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return;
  throw new LogOptionsError(field, `${value} is not a whole number of at least ${least}`);
}
