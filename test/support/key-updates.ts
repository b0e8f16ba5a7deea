// A TLS 1.3 client that changes its key again and again (RFC 8446, 4.6.3) and asks for the server's new key each time.
// Node has no call for it: the records are made here, with the secret of the client's key log.

import { createCipheriv, createHmac, type CipherGCMTypes } from "node:crypto";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect } from "node:tls";
import { sleep } from "../../tools/standalone/wait.js";

const SECRET = /^CLIENT_TRAFFIC_SECRET_0 [0-9a-f]+ ([0-9a-f]+)/;
/** KeyUpdate with update_requested, and the type of its record: handshake. */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 1, 22]);
const TAG_BYTES = 16;

function expand(hash: string, secret: Buffer, label: string, bytes: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.from([0, bytes, name.length, ...name, 0, 1]);
  return createHmac(hash, secret).update(info).digest().subarray(0, bytes);
}

export class KeyUpdateClient {
  private constructor(
    readonly socket: Socket,
    private secret: Buffer,
  ) {}

  static async connect(port: number, localAddress: string): Promise<KeyUpdateClient> {
    const tcp = connectTcp({ host: "127.0.0.1", port, localAddress }).on("error", () => undefined);
    const socket = connect({ socket: tcp, rejectUnauthorized: false, minVersion: "TLSv1.3" });
    socket.on("error", () => undefined);
    let secret: string | undefined;
    socket.on("keylog", (line: Buffer) => (secret ??= SECRET.exec(line.toString())?.[1]));
    await once(socket, "secureConnect");
    if (secret === undefined) throw new Error("the client has no key log");
    socket.resume();
    // Until Node has sent the end of the handshake.
    await sleep(10);
    return new KeyUpdateClient(tcp, Buffer.from(secret, "hex"));
  }

  /** Sends so many at once. */
  send(count: number): void {
    this.socket.write(Buffer.concat(Array.from({ length: count }, () => this.next())));
  }

  private next(): Buffer {
    const isLong = this.secret.length === 48;
    const hash = isLong ? "sha384" : "sha256";
    const cipher: CipherGCMTypes = isLong ? "aes-256-gcm" : "aes-128-gcm";
    const key = expand(hash, this.secret, "key", isLong ? 32 : 16);
    // The first record of each key: its number is 0.
    const sealer = createCipheriv(cipher, key, expand(hash, this.secret, "iv", 12), { authTagLength: TAG_BYTES });
    const header = Buffer.from([23, 3, 3, 0, KEY_UPDATE.length + TAG_BYTES]);
    sealer.setAAD(header, { plaintextLength: KEY_UPDATE.length });
    this.secret = expand(hash, this.secret, "traffic upd", this.secret.length);
    return Buffer.concat([header, sealer.update(KEY_UPDATE), sealer.final(), sealer.getAuthTag()]);
  }
}
