// Files and listings of the node's log folder, as Go's file server sends them. Folders end in "/", and ranges and dates
// are honoured.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { errorCode } from "../../../../shared/base/errors/error-code.js";
import { unlessGone } from "../../../../shared/base/errors/unless-gone.js";
import { escapeHtml } from "../../../../shared/base/text/escape.js";
import {
  entriesOf,
  folderChangedAt,
  FolderTooBigError,
  leadsToFolder,
  MOST_NAMES,
} from "../../../../shared/io/fs/untrusted-folder.js";
import { toBytes } from "../../../../shared/io/http/bytes.js";
import { escape } from "../../../../shared/io/http/url-escapes.js";
import { replyError, replyNotFound, writeChunks } from "../../http/reply.js";
import { rangeOf } from "./byte-ranges.js";
import { checkOnNode, LogNotOnNodeError, openLogFile, pathBelow, type LogFile } from "./log-file.js";
import { multipartBody } from "./multipart-ranges.js";
import { conditionsOf, isUnchanged } from "./preconditions.js";

const SNIFFED = 512;
const TEXT = "text/plain; charset=utf-8";
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
    if (index === undefined) await replyListing(full, request, response);
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

async function replyListing(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const modified = wholeSeconds((await unlessGone(folderChangedAt(folder))) ?? 0);
  if (isUnchanged(request.headers, modified)) {
    response.writeHead(304).end();
    return;
  }
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
  response.writeHead(200, { ...lastModified(modified), "Content-Type": "text/html; charset=utf-8" }).end(page);
}

/** As Go escapes a path. "./" keeps a colon in a name from reading as a scheme. */
function hrefOf(name: string): string {
  const path = name === "*" ? name : escape(toBytes(name), "path");
  return name.includes(":") ? `./${path}` : path;
}

async function replyFile(file: LogFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await replyOpenFile(file, request, response);
  } finally {
    await file.close();
  }
}

async function replyOpenFile(file: LogFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { size } = file;
  const modified = wholeSeconds(file.modifiedAt);
  const common = { ...lastModified(modified), "Accept-Ranges": "bytes" };
  const conditions = conditionsOf(request.headers, modified);
  if (conditions.verdict !== "send") {
    if (conditions.verdict === "unchanged") response.writeHead(304, common).end();
    else response.writeHead(412, { ...common, "Content-Length": "0" }).end();
    return;
  }
  const range = rangeOf(conditions.range, size);
  if (range.kind === "outside" || range.kind === "malformed") {
    const isOutside = range.kind === "outside";
    const message = isOutside ? "invalid range: failed to overlap" : "invalid range";
    replyError(response, 416, message, isOutside ? { "Content-Range": `bytes */${size}` } : {});
    return;
  }
  const type = await contentTypeOf(file);
  const send = async (status: number, body: Body, more: OutgoingHttpHeaders = {}): Promise<void> => {
    const own = { "X-Content-Type-Options": "nosniff", "Content-Length": String(body.length) };
    response.writeHead(status, { ...common, "Content-Type": type, ...own, ...more });
    await writeChunks(response, whole(body));
  };
  if (range.kind === "parts") {
    const parts = multipartBody(range.ranges, { type, size });
    const chunks = parts.chunks(({ start, end }) => file.read(start, end));
    await send(206, { length: parts.length, chunks }, { "Content-Type": parts.contentType });
    return;
  }
  const { start, end } = range.kind === "part" ? range : { start: 0, end: size };
  const body = { length: end - start, chunks: file.read(start, end) };
  if (range.kind === "whole") await send(200, body);
  else await send(206, body, { "Content-Range": `bytes ${start}-${end - 1}/${size}` });
}

interface Body {
  readonly length: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The file became shorter than its response's Content-Length: the client learns it by the end of the connection. */
class ShortenedFileError extends Error {
  override readonly name = "ShortenedFileError";
  constructor() {
    super("the log file became shorter while it was sent");
  }
}

async function* whole({ length, chunks }: Body): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new ShortenedFileError();
}

async function contentTypeOf(file: LogFile): Promise<string> {
  for await (const head of file.read(0, Math.min(SNIFFED, file.size))) {
    return isText(head) ? TEXT : "application/octet-stream";
  }
  return TEXT;
}

/** No control characters but those of text. */
function isText(head: Uint8Array): boolean {
  return head.every((byte) => byte >= 0x20 || byte === 9 || byte === 10 || byte === 12 || byte === 13 || byte === 27);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** @param modified 0: unknown */
function lastModified(modified: number): OutgoingHttpHeaders {
  return modified === 0 ? {} : { "Last-Modified": new Date(modified).toUTCString() };
}
