// An unauthorised client of port 10250: no certificate, no token that is known.

import { size, type Attack } from "../attack.js";
import { OPERATORS_ADDRESS, clientAttack, type ClientAttackData } from "../unauthorised-client.js";

const SECONDS = size(4, 20);

function attack(
  name: string,
  method: ClientAttackData["method"],
  connections: number,
  requests: number,
  short?: true,
): Attack {
  return clientAttack(
    { name, seconds: SECONDS, ...(short === undefined ? {} : { short }) },
    { method, connections, requests },
  );
}

const CHAINS = {
  "crafted-tls": "crafted client certificate chains",
  "accepted-chains": "the costliest certificate chains that are verified",
} as const;

/** A busy machine misses the bounds by itself. */
const NOTHING: Attack = {
  ...{ name: "no attack, for comparison", family: "unauthorised client", seconds: SECONDS },
  start: () => Promise.resolve({ stop: () => Promise.resolve("nothing") }),
};

export const UNAUTHORISED_CLIENT: readonly Attack[] = [
  NOTHING,
  attack("pipelined requests followed by an upgrade request", "pipelined-upgrade", 20, size(100, 1_000), true),
  attack("incomplete request headers of 900 KiB", "half-heads", size(300, 800), 4_000, true),
  attack(
    "upgrade requests without a token, with bytes after them",
    "refused-upgrades",
    1_100,
    size(1_100, 4_000),
    true,
  ),
  attack("HTTP/2 connections with a flow-control window of 0", "closed-window", size(100, 600), 2_000),
  attack("pipelined requests whose responses are not read", "slow-reads", size(50, 300), 2_000),
  attack("request heads in pieces of one byte", "one-byte-heads", size(20, 120), size(40, 400), true),
  attack("request bodies in chunks of one byte", "one-byte-chunks", size(10, 50), size(20, 200)),
  attack("requests that are cut in their bodies", "cut-bodies", size(100, 300), size(300, 3_000)),
  attack("random bytes in place of a TLS handshake", "garbage-tls", size(100, 500), size(1_000, 10_000)),
  attack("connections that send nothing", "silent-connections", size(2_000, 10_000), size(2_500, 20_000)),
  attack("requests with random bearer tokens", "random-tokens", 20, size(200, 2_000)),
  {
    ...attack("crafted client certificate chains, 10 a second", "crafted-tls", 100, size(100, 1_000), true),
    upstream: "TLS alert at once",
  },
  ...(["crafted-tls", "accepted-chains"] as const).map((method) =>
    clientAttack(
      { name: `${CHAINS[method]}, 10 a second, from the operator's own address`, seconds: size(10, 60) },
      { method, connections: 100, requests: size(100, 1_000), address: OPERATORS_ADDRESS },
    ),
  ),
  attack("HTTP/2 requests that are reset at once", "rapid-resets", size(20, 100), size(100, 2_000)),
];
