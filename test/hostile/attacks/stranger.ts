// A stranger at port 10250: no certificate, no token that is known.
import { size, type Attack } from "../attack.js";
import { strangerAttack, type StrangerData } from "../stranger.js";

const SECONDS = size(6, 20);

function attack(
  name: string,
  method: StrangerData["method"],
  connections: number,
  requests: number,
  short?: true,
): Attack {
  return strangerAttack(
    { name, seconds: SECONDS, ...(short === undefined ? {} : { short }) },
    { method, connections, requests },
  );
}

export const STRANGER: readonly Attack[] = [
  attack("pipelined requests with an upgrade behind them", "pipelined-upgrade", 20, size(100, 1_000), true),
  attack("half-sent heads of 900 KiB", "half-heads", size(300, 800), 4_000, true),
  attack("refused upgrades with unread bytes", "refused-upgrades", 1_100, size(1_100, 4_000), true),
  attack("HTTP/2 with a window of 0", "closed-window", size(100, 600), 2_000),
  attack("pipelined requests whose answers are not read", "slow-reads", size(50, 300), 2_000),
  attack("garbage in place of TLS", "garbage-tls", size(100, 500), size(1_000, 10_000)),
  attack("connections that say nothing", "silent-connections", size(2_000, 10_000), size(2_500, 20_000)),
  attack("random tokens", "random-tokens", 20, size(200, 2_000)),
];
