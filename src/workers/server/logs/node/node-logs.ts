// GET /logs/…: the node's own logs: files of the log folder, and, where the configuration allows it, services' logs.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { createGzip, constants } from "node:zlib";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { queryOf, type Target } from "../../../../shared/io/http/target.js";
import type { Answer, Route } from "../../http/answer.js";
import { replyError, writeChunks } from "../../http/reply.js";
import { disabledTree } from "../../routes.js";
import { serveLogs, type LogPath } from "./file-server.js";
import { serviceLogs } from "./journal.js";
import { NodeLogInvalidError, NodeLogParseError, nodeLogQuery, type NodeLogQuery } from "./query.js";

export interface NodeLogsDeps {
  /** enableSystemLogHandler */
  enabled: boolean;
  /** enableSystemLogQuery */
  queries: boolean;
  logDirectory: string;
  clock: Clock;
}

export function nodeLogsRoutes(deps: NodeLogsDeps): Route[] {
  if (!deps.enabled) return disabledTree("logs", "logs endpoint is disabled.");
  const answer: Answer = async (request, response, { target, params }) => {
    const query = deps.queries ? readQuery(target, response) : undefined;
    if (query === "refused") return;
    if (query !== undefined && query.services.length > 0) await replyServices(deps, query, request, response);
    else {
      const [file] = query?.files ?? [];
      const asked: LogPath =
        file === undefined
          ? { path: params["*"] ?? "", query: target.raw.query }
          : { path: file.replaceAll("\\", "/"), query: undefined };
      await serveLogs(deps.logDirectory, asked, request, response);
    }
  };
  return [{ path: "/logs/*", service: "/logs/", methods: ["GET"], answer }];
}

function readQuery(target: Target, response: ServerResponse): NodeLogQuery | "refused" | undefined {
  try {
    return nodeLogQuery(queryOf(target));
  } catch (error) {
    if (error instanceof NodeLogParseError) replyError(response, 400, error.message);
    else if (error instanceof NodeLogInvalidError) replyError(response, 406, error.message);
    else throw error;
    return "refused";
  }
}

async function replyServices(
  deps: NodeLogsDeps,
  { services, options }: NodeLogQuery,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const text = serviceLogs(services, options, deps, gone.signal);
  const zipped = request.headers["accept-encoding"] === "gzip";
  response.writeHead(
    200,
    omitUndefined<OutgoingHttpHeaders>({
      "Content-Type": "text/plain;charset=UTF-8",
      "Content-Encoding": zipped ? "gzip" : undefined,
    }),
  );
  await writeChunks(response, zipped ? gzipped(text) : text);
}

async function* gzipped(text: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const { Readable } = await import("node:stream");
  const zip = createGzip({ level: constants.Z_BEST_SPEED });
  const source = Readable.from(text);
  source.once("error", (error) => zip.destroy(error));
  for await (const part of source.pipe(zip) as AsyncIterable<Uint8Array>) yield part;
}
