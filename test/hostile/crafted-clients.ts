// Clients whose TLS is made to be expensive, each of another kind: chains of certificates, drips of bytes,
// renegotiations, new keys. The chains are made once; a connection costs its client little.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { craftedChain, curveKey, rsaKey, type CraftedChain } from "../support/crafted-chains.js";
import { KeyUpdateClient } from "../support/key-updates.js";
import { certificateBody, connectRawTls, recordsOf } from "../support/raw-tls-client.js";

const CERTIFICATE = 11;
/** Bytes of one record. */
const DRIP_BYTES = 8;
const KEY_UPDATES = 2000;

/** Connects, and sends what it is made for. @returns the socket that ends it */
export type CraftedClient = (port: number, localAddress: string) => Promise<Socket>;

function tls(options: ConnectionOptions, port: number, localAddress: string): ReturnType<typeof connectTls> {
  const tcp = connectTcp({ host: "127.0.0.1", port, localAddress }).on("error", () => undefined);
  const socket = connectTls({ socket: tcp, rejectUnauthorized: false, ...options });
  socket.on("error", () => undefined).once("close", () => tcp.destroy());
  return socket;
}

/** Shows the chain, and sends a request behind it. */
function showing({ cert, key }: CraftedChain, maxVersion: "TLSv1.2" | "TLSv1.3"): CraftedClient {
  return (port, localAddress) => {
    const socket = tls({ cert, key, maxVersion }, port, localAddress);
    socket.write("GET /pods HTTP/1.1\r\nHost: x\r\n\r\n");
    return Promise.resolve(socket);
  };
}

/** Sends this Certificate message in records of this size. */
function sending(body: () => Buffer, recordBytes?: number): CraftedClient {
  return async (port, localAddress) => {
    const socket = await connectRawTls(port, localAddress);
    for (const record of recordsOf(CERTIFICATE, body(), recordBytes)) socket.write(record);
    return socket;
  };
}

async function renegotiating(port: number, localAddress: string): Promise<Socket> {
  const socket = tls({ maxVersion: "TLSv1.2" }, port, localAddress);
  await once(socket, "secureConnect");
  socket.setMaxListeners(0);
  for (let i = 0; i < 100 && !socket.destroyed; i++) socket.renegotiate({}, () => undefined);
  return socket;
}

async function updatingKeys(port: number, localAddress: string): Promise<Socket> {
  const client = await KeyUpdateClient.connect(port, localAddress);
  client.send(KEY_UPDATES);
  return client.socket;
}

/** The most expensive chains within the limits: OpenSSL verifies each of them. */
export function acceptedChains(): CraftedClient[] {
  return [
    showing(craftedChain(4, curveKey("P-521", 66)), "TLSv1.3"),
    showing(craftedChain(5, curveKey("P-521", 66)), "TLSv1.2"),
    showing(craftedChain(3, rsaKey(8192, 31)), "TLSv1.2"),
  ];
}

/** In the order in which an attack uses them, again and again. */
export function craftedClients(): CraftedClient[] {
  const long = craftedChain(72, rsaKey(3072, 3072));
  const large = craftedChain(22, rsaKey(16_384, 64));
  const body = certificateBody(craftedChain(2, rsaKey(3072, 3072)).certificates);
  return [
    showing(long, "TLSv1.3"),
    showing(long, "TLSv1.2"),
    showing(large, "TLSv1.3"),
    showing(craftedChain(1, rsaKey(16_384, 64)), "TLSv1.3"),
    showing(craftedChain(3, rsaKey(3072, 3072)), "TLSv1.3"),
    showing(craftedChain(90, curveKey("sect571r1", 71)), "TLSv1.3"),
    // Within the limits: OpenSSL verifies them.
    showing(craftedChain(4, curveKey("P-521", 66)), "TLSv1.3"),
    showing(craftedChain(3, rsaKey(8192, 31)), "TLSv1.2"),
    sending(() => certificateBody([randomBytes(8000), randomBytes(4000)])),
    sending(() => body, DRIP_BYTES),
    renegotiating,
    updatingKeys,
  ];
}
