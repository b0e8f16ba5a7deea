// Splits the bytes of a TLS client into records (RFC 8446, 5.1). Records are the unit in which OpenSSL works.
// Invariant: what has no record's header is an error, so nothing passes unseen.

export const RECORD = { changeCipherSpec: 20, alert: 21, handshake: 22, data: 23 } as const;
const HEADER_BYTES = 5;
/** Bytes of TLS 1.2's encrypted records, the largest ones. */
const MAX_FRAGMENT_BYTES = 16 * 1024 + 2048;

/** What a client of plain HTTP sends first, as far as Go's server looks for it. */
const HTTP = new Set(["GET /", "HEAD ", "POST ", "PUT /", "OPTIO"]);

/** Bytes that are no TLS record. */
export class NotTlsError extends Error {
  override readonly name = "NotTlsError";
  /** @param isHttp the client has sent an HTTP request instead of a handshake */
  constructor(readonly isHttp: boolean) {
    super(`the client does not send TLS${isHttp ? ", but HTTP" : ""}`);
  }
}

export interface TlsRecord {
  readonly type: number;
  readonly header: Buffer;
  readonly fragment: Buffer;
  /** Header and fragment. */
  readonly bytes: Buffer;
}

export class RecordSplitter {
  private parts: Buffer[] = [];
  private size = 0;
  private hasRecord = false;

  /**
   * The records that are complete with these bytes.
   * @throws NotTlsError
   */
  split(bytes: Buffer): TlsRecord[] {
    this.parts.push(bytes);
    this.size += bytes.length;
    const records: TlsRecord[] = [];
    for (;;) {
      const record = this.next();
      if (record === undefined) return records;
      records.push(record);
    }
  }

  /** The bytes of an incomplete record. */
  rest(): Buffer {
    const rest = Buffer.concat(this.parts);
    this.parts = [];
    this.size = 0;
    return rest;
  }

  private next(): TlsRecord | undefined {
    if (this.size < HEADER_BYTES) return undefined;
    const header = this.first(HEADER_BYTES);
    const [type = 0, major, , high = 0, low = 0] = header;
    const length = high * 256 + low;
    const isKnown = type >= RECORD.changeCipherSpec && type <= RECORD.data;
    if (!isKnown || major !== 3 || length > MAX_FRAGMENT_BYTES)
      throw new NotTlsError(!this.hasRecord && HTTP.has(header.toString("latin1")));
    this.hasRecord = true;
    const end = HEADER_BYTES + length;
    if (this.size < end) return undefined;
    const bytes = this.first(end);
    const rest = (this.parts[0] ?? bytes).subarray(end);
    this.parts = rest.length > 0 ? [rest] : [];
    this.size -= end;
    return { type, bytes, header: bytes.subarray(0, HEADER_BYTES), fragment: bytes.subarray(HEADER_BYTES) };
  }

  /** The first bytes; those of several chunks become one chunk only when they are needed. */
  private first(count: number): Buffer {
    if ((this.parts[0]?.length ?? 0) < count) this.parts = [Buffer.concat(this.parts)];
    return (this.parts[0] ?? Buffer.alloc(0)).subarray(0, count);
  }
}
