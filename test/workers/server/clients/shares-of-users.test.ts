// One authorised user with more connections than others can bear: a scraper that leaks them, or a reader who means it.

import { deepEqual, equal, match } from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { Certificates, SecurePort } from "../ports/secure-port-kit.js";

const LIMIT = 6;
let certificates: Certificates;
let server: SecurePort;
const sockets = new Set<TLSSocket>();

before(async () => {
  certificates = await Certificates.create();
  server = await new SecurePort(certificates).open({
    init: {
      authentication: {
        anonymous: false,
        clientCAFile: certificates.ca.pair.certFile,
        webhook: false,
        cacheTTLMs: 120_000,
      },
    },
    limits: { connections: 2 * LIMIT, authorisedPerUser: LIMIT },
  });
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
  await certificates.remove();
});

test("a user who opens connections without end leaves the others to an operator", { timeout: 60_000 }, async () => {
  const [reader, operator] = [
    await certificates.ca.issue("reader", { subject: "/CN=reader" }),
    await certificates.ca.issue("operator", { subject: "/CN=operator" }),
  ];
  const ca = certificates.ca.pair.cert;
  const kept = async (): Promise<string> => {
    const socket = connect({ host: "127.0.0.1", port: server.port, ca, cert: reader.cert, key: reader.key });
    sockets.add(socket.on("error", () => undefined));
    socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return await new Promise((resolve) => {
      socket.once("data", (part: Buffer) => resolve(part.toString("latin1")));
      socket.once("close", () => resolve("closed"));
    });
  };
  const heads: string[] = [];
  for (let count = 0; count < 3 * LIMIT; count++) heads.push(await kept());
  deepEqual(
    heads.map((head) => head.slice(9, 12)),
    [...Array<string>(LIMIT).fill("200"), ...Array<string>(2 * LIMIT).fill("429")],
  );
  match(heads.at(-1) ?? "", /\r\nconnection: close\r\n[^]*reader has too many connections/i);
  equal((await server.ask("/healthz", { cert: operator.cert, key: operator.key })).status, 200);
  const [first] = sockets;
  first?.destroy();
  await new Promise((resolve) => first?.once("close", resolve));
  // The server hears of the end a little later.
  for (let head = await kept(); !head.startsWith("HTTP/1.1 200 "); head = await kept()) match(head, / 429 /);
});
