// Files and listings of the node's log folder, as Go's file server sends them. Folders end in "/", and ranges and dates
// are honoured.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { errorCode } from "../../../../shared/base/errors/error-code.js";
import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { escapeHtml } from "../../../../shared/base/text/escape.js";
import { entriesOf, FolderTooBigError, leadsToFolder, MOST_NAMES } from "../../../../shared/io/fs/untrusted-folder.js";
import { replyError, replyNotFound, writeChunks } from "../../http/reply.js";
import { rangeOf } from "./byte-ranges.js";
import { checkOnNode, LogNotOnNodeError, openLogFile, pathBelow, type LogFile } from "./log-file.js";
import { conditionsOf } from "./preconditions.js";

const SNIFFED = 512;
const INDEX = "index.html";

export interface LogPath {
  /** Below the folder, decoded. */
  readonly path: string;
  /** The request's path has it, and redirects keep this query; undefined: the query names it. */
  readonly query: string | undefined;
}

export async function serveLogs(
  folder: string,
  asked: LogPath,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await serve(folder, asked, request, response);
  } catch (error) {
    if (response.headersSent || !(error instanceof LogNotOnNodeError || error instanceof FolderTooBigError))
      throw error;
    replyError(response, 500, error.message);
  }
}

async function serve(
  folder: string,
  { path, query }: LogPath,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const redirect = (location: string): void => {
    const kept = query === undefined || query === "" ? "" : `?${query}`;
    response.writeHead(301, { Location: `${location}${kept}`, "Content-Length": "0" }).end();
  };
  if (query !== undefined && `/${path}`.endsWith(`/${INDEX}`)) {
    redirect("./");
    return;
  }
  const full = pathBelow(folder, path);
  if (full !== undefined) await checkOnNode(folder, full);
  const isFolder = full !== undefined && (await leadsToFolder(full));
  if (full !== undefined && isFolder) {
    if (path !== "" && !path.endsWith("/")) {
      redirect(`${encodeURIComponent(baseOf(path))}/`);
      return;
    }
    const index = await openLogFile(folder, `${path}${INDEX}`);
    if (index === undefined) await replyListing(full, response);
    else await replyFile(index, request, response);
    return;
  }
  if (path.endsWith("/")) {
    if (full === undefined || path === "/") replyNotFound(response);
    else redirect(`../${encodeURIComponent(baseOf(path))}`);
    return;
  }
  const file = await openLogFile(folder, path);
  if (file === undefined) replyNotFound(response);
  else await replyFile(file, request, response);
}

function baseOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? "";
}

async function replyListing(folder: string, response: ServerResponse): Promise<void> {
  const names: string[] = [];
  try {
    for await (const entry of entriesOf(folder)) {
      if (names.length === MOST_NAMES) throw new FolderTooBigError(folder, MOST_NAMES);
      names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    }
  } catch (error) {
    if (errorCode(error) === "EACCES" || errorCode(error) === "ENOENT") {
      replyNotFound(response);
      return;
    }
    throw error;
  }
  const lines = names.sort().map((name) => `<a href="${hrefOf(name)}">${escapeHtml(name)}</a>\n`);
  const page = `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join("")}</pre>\n`;
  response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
}

/** "./" keeps a colon in a name from reading as a scheme. */
function hrefOf(name: string): string {
  const path = name.split("/").map(encodeURIComponent).join("/");
  return name.includes(":") ? `./${path}` : path;
}

async function replyFile(file: LogFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const modified = Math.floor(file.modifiedAt / 1000) * 1000;
  const common = omitUndefined<OutgoingHttpHeaders>({
    "Last-Modified": modified === 0 ? undefined : new Date(modified).toUTCString(),
    "Accept-Ranges": "bytes",
  });
  const conditions = conditionsOf(request.headers, modified);
  if (conditions.verdict !== "send") {
    await file.close();
    if (conditions.verdict === "unchanged") response.writeHead(304, common).end();
    else response.writeHead(412, { ...common, "Content-Length": "0" }).end();
    return;
  }
  const range = rangeOf(conditions.range, file.size);
  if (range.kind === "outside" || range.kind === "malformed") {
    await file.close();
    const isOutside = range.kind === "outside";
    const message = isOutside ? "invalid range: failed to overlap" : "invalid range";
    replyError(response, 416, message, isOutside ? { "Content-Range": `bytes */${file.size}` } : {});
    return;
  }
  const [start, end] = range.kind === "part" ? [range.start, range.end] : [0, file.size];
  const chunks = file.chunks(start, end);
  const first = await chunks.next();
  const head = first.done === true ? new Uint8Array() : first.value;
  response.writeHead(
    range.kind === "whole" ? 200 : 206,
    omitUndefined<OutgoingHttpHeaders>({
      ...common,
      "Content-Type": isText(head) ? "text/plain; charset=utf-8" : "application/octet-stream",
      "X-Content-Type-Options": "nosniff",
      "Content-Length": String(end - start),
      "Content-Range": range.kind === "whole" ? undefined : `bytes ${start}-${end - 1}/${file.size}`,
    }),
  );
  await writeChunks(response, after(head, chunks));
}

async function* after(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** No control characters but those of text. */
function isText(head: Uint8Array): boolean {
  return head
    .subarray(0, SNIFFED)
    .every((byte) => byte >= 0x20 || byte === 9 || byte === 10 || byte === 12 || byte === 13 || byte === 27);
}
