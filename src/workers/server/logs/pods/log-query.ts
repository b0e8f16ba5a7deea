// The query of /containerLogs as upstream decodes it into v1.PodLogOptions.

import { isGoTime } from "../../../../shared/base/text/go-time.js";
import { queryFlag } from "../../../../shared/kubernetes/api/query-flag.js";
import type { PodLogOptions } from "./options.js";

/** A value is not of its field's type. */
export class LogQueryError extends Error {
  override readonly name = "LogQueryError";
  constructor(
    readonly parameter: string,
    readonly value: string,
  ) {
    super(`${parameter}=${JSON.stringify(value)} cannot be read`);
  }
}

/** The requested values: `stream` may name no stream. */
type LogQuery = Omit<PodLogOptions, "stream"> & { stream?: string | undefined };

/** @throws LogQueryError */
export function logQuery(query: URLSearchParams): LogQuery {
  const tail = query.get("tail");
  const tailLines = tail === null || tail === "" ? query.get("tailLines") : tail === "all" ? null : tail;
  const stream = query.get("stream");
  const sinceTime = time(query.get("sinceTime"));
  return {
    follow: queryFlag(query, "follow"),
    previous: queryFlag(query, "previous"),
    timestamps: queryFlag(query, "timestamps"),
    sinceSeconds: integer("sinceSeconds", query.get("sinceSeconds")),
    limitBytes: integer("limitBytes", query.get("limitBytes")),
    tailLines: integer("tailLines", tailLines),
    sinceTime,
    // An empty one is a stream that does not exist, as upstream decides.
    stream: stream ?? undefined,
  };
}

/** An int64; a value beyond JavaScript's whole numbers is more than any log holds. */
function integer(parameter: string, value: string | null): number | undefined {
  if (value === null) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw new LogQueryError(parameter, value);
  const digits = value.replace(/^[+-]?0*/, "");
  const limit = value.startsWith("-") ? 2n ** 63n : 2n ** 63n - 1n;
  if (digits.length > 19 || BigInt(digits || "0") > limit) throw new LogQueryError(parameter, value);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

function time(value: string | null): string | undefined {
  // Old clients write a time that is not set as in JSON.
  if (value === null || value === "" || value === "null") return undefined;
  if (!isGoTime(value)) throw new LogQueryError("sinceTime", value);
  return value;
}
