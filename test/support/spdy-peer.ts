// A small server's side of a SPDY/3.1 connection for tests. It records the client's streams with their data, and sends
// frames of any kind, also invalid ones. Headers are inflated by zlib with the protocol's own dictionary, which checks
// both.

import type { Duplex } from "node:stream";
import { constants, inflateSync } from "node:zlib";

const NAMES =
  "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow " +
  "authorization cache-control connection content-base content-encoding content-language content-length content-location " +
  "content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match " +
  "if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range " +
  "referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get " +
  "status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin";
const REST =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 " +
  "Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not " +
  "Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec " +
  "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml," +
  "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1," +
  "utf-,*,enq=0.";
const dictionary = Buffer.concat([
  ...NAMES.split(" ").map((name) => Buffer.concat([word(name.length), Buffer.from(name.replace("_", " "))])),
  Buffer.from(REST),
]);

export interface PeerStream {
  id: number;
  headers: Record<string, string>;
  parts: Buffer[];
  ended: boolean;
}

export class SpdyPeer {
  readonly streams: PeerStream[] = [];
  /** Frames of other kinds, in order: kind and payload. */
  readonly control: [kind: number, payload: Buffer][] = [];
  private pending = Buffer.alloc(0);
  private readonly blocks: Buffer[] = [];
  private inflated = 0;

  constructor(private readonly out: Pick<Duplex, "write">) {}

  /** Bytes that the client has sent. */
  push(chunk: Buffer): void {
    this.pending = Buffer.concat([this.pending, chunk]);
    for (;;) {
      if (this.pending.length < 8) return;
      const end = 8 + this.pending.readUIntBE(5, 3);
      if (this.pending.length < end) return;
      this.read(this.pending.subarray(0, 8), Buffer.from(this.pending.subarray(8, end)));
      this.pending = this.pending.subarray(end);
    }
  }

  stream(type: string): PeerStream {
    const found = this.streams.find(({ headers }) => headers["streamtype"] === type);
    if (found === undefined) throw new Error(`no stream ${type} among ${JSON.stringify(this.streams)}`);
    return found;
  }

  text(type: string): string {
    return Buffer.concat(this.stream(type).parts).toString("latin1");
  }

  /** False: that is enough until the connection has drained. */
  send(type: string, data: string | Buffer, fin = false): boolean {
    return this.out.write(dataFrame(this.stream(type).id, Buffer.from(data), fin));
  }

  reset(type: string, status = 5): void {
    this.out.write(controlFrame(3, Buffer.concat([word(this.stream(type).id), word(status)])));
  }

  goAway(): void {
    this.out.write(controlFrame(7, Buffer.alloc(8)));
  }

  private read(head: Buffer, payload: Buffer): void {
    const fin = (head.readUInt8(4) & 1) !== 0;
    if ((head.readUInt8(0) & 0x80) === 0) {
      const stream = this.streams.find(({ id }) => id === head.readUInt32BE(0));
      if (stream === undefined || stream.ended) throw new Error(`data for stream ${head.readUInt32BE(0)}`);
      stream.parts.push(payload);
      stream.ended = fin;
      return;
    }
    if (head.readUInt16BE(0) !== 0x8003) throw new Error("another version");
    if (head.readUInt16BE(2) !== 1) {
      this.control.push([head.readUInt16BE(2), payload]);
      return;
    }
    this.blocks.push(payload.subarray(10));
    const id = payload.readUInt32BE(0);
    this.streams.push({ id, headers: this.headers(), parts: [], ended: fin });
    this.out.write(controlFrame(2, Buffer.concat([word(id), Buffer.alloc(4)])));
  }

  /** Decodes the newest block of headers: all blocks are one zlib stream. */
  private headers(): Record<string, string> {
    const all = inflateSync(Buffer.concat(this.blocks), { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
    let at = this.inflated;
    this.inflated = all.length;
    const text = (): string => {
      const length = all.readUInt32BE(at);
      at += 4 + length;
      return all.subarray(at - length, at).toString();
    };
    const count = all.readUInt32BE(at);
    at += 4;
    return Object.fromEntries(Array.from({ length: count }, () => [text(), text()]));
  }
}

export function dataFrame(stream: number, data: Buffer, fin = false): Buffer {
  return Buffer.concat([word(stream), word((fin ? 0x0100_0000 : 0) + data.length), data]);
}

export function controlFrame(kind: number, payload: Buffer, { flags = 0, version = 3 } = {}): Buffer {
  return Buffer.concat([word((0x8000 + version) * 65_536 + kind), word(flags * 2 ** 24 + payload.length), payload]);
}

export function word(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}
