// node:zlib whose decompressing stream works in its own callbacks: the real one has its result from another thread.

import { Transform, type TransformCallback } from "node:stream";
import { gunzipSync } from "node:zlib";

export * from "node:zlib";

/** The whole input at its end; several members follow each other. */
class Gunzip extends Transform {
  private readonly parts: Buffer[] = [];

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.parts.push(chunk);
    done();
  }
  override _flush(done: TransformCallback): void {
    try {
      done(null, gunzipSync(Buffer.concat(this.parts)));
    } catch (error) {
      done(error as Error);
    }
  }
}

export function createGunzip(): Transform {
  return new Gunzip();
}
