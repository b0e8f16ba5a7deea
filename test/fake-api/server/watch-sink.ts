// The events of a watch on their way to the client: JSON lines, tables or frames of protobuf, as it prefers.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { PROTOBUF_TYPE } from "../../../src/shared/kubernetes/api/client/call/body.js";
import type { ApiCall } from "../call-log.js";
import type { WatchSink } from "../verbs/watch.js";
import type { ApiRequest } from "./body.js";
import { toFrame, wantsProtobuf } from "./protobuf.js";
import { dropConnection, type ApiResponse } from "./reply.js";

/** A client this far behind loses its watch. */
const SLOW_WATCH_BYTES = 64 * 1024 * 1024;

/** Counts in the entry. `asTable` makes a line of a table from each line. */
export function sinkOf(
  request: ApiRequest,
  response: ApiResponse,
  entry: ApiCall,
  asTable: ((line: string) => string) | undefined,
): WatchSink {
  const out = response as ServerResponse;
  const isProtobuf = wantsProtobuf(request);
  const type = isProtobuf ? `${PROTOBUF_TYPE};stream=watch` : "application/json";
  return {
    open: () => {
      entry.answerType = type;
      out.writeHead(200, { "content-type": type, "cache-control": "no-cache, private" });
      out.flushHeaders();
    },
    write: (line) => {
      const bytes = isProtobuf ? toFrame(line) : Buffer.from(asTable?.(line) ?? line);
      entry.events++;
      entry.answerBytes += bytes.length;
      out.write(bytes);
      if (out.writableLength > SLOW_WATCH_BYTES) dropConnection(request);
    },
    taken: async () => {
      if (out.writableLength <= out.writableHighWaterMark || out.closed) return;
      const over = new AbortController();
      const { signal } = over;
      // An error is followed by the end of the watch.
      const events = ["drain", "close"].map((name) => once(out, name, { signal }).catch(() => undefined));
      await Promise.race(events);
      over.abort();
    },
    end: (how) => {
      if (how === "drop") dropConnection(request);
      else out.end();
    },
    onClose: (fn) => void out.once("close", fn),
  };
}
