// A tenant's servers that hold the client of a probe or hook: what they send was made of random numbers, they compute
// nothing.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Fields } from "../../fake-api/fake-api.js";
import { HTTP1_FLOODS, HTTP2_FLOODS } from "../../support/hostile-http.js";
import { chainFlight, dheFlight } from "../../support/hostile-tls.js";
import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { Http2Servers } from "../http2-servers.js";
import { CONNECTION, each, hostile, REST, tenantAttack, tenantPod } from "./tenant-kit.js";

/** What a connection gets: the first file once, the other one again and again. */
interface Payload {
  first: Buffer;
  again?: Buffer;
}

const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
const TLS: readonly Payload[] = [
  { first: dheFlight() },
  { first: chainFlight(72) },
  // Below the limit of a handshake's bytes: its certificates are checked.
  { first: chainFlight(24), again: ALERT },
];
const PORT = 9001;
const OFTEN = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 1_000 };

const folder = (bench: HostileBench): string => join(bench.dir, "payloads");

async function write(bench: HostileBench, payloads: readonly Payload[]): Promise<void> {
  await mkdir(folder(bench), { recursive: true });
  for (const [at, { first, again }] of payloads.entries()) {
    await writeFile(join(folder(bench), `first-${at}`), first);
    const repeat = again === undefined ? "" : `while cat /payloads/again-${at}; do :; done`;
    if (again !== undefined) await writeFile(join(folder(bench), `again-${at}`), again);
    // Each connection leaves a file: a server that no probe reaches proves nothing.
    const script = [
      `: > /evidence/$HOSTNAME.${CONNECTION}.$(cut -d' ' -f1 /proc/uptime)`,
      `cat /payloads/first-${at}`,
      repeat,
      "",
    ];
    await writeFile(join(folder(bench), `serve-${at}`), script.join("\n"));
  }
}

/** A small pod with one server, and containers beside it that have it as the server of their probes or hooks. */
function podOf(bench: HostileBench, pod: string, payload: number, fields: Fields): Fields {
  const script = `nc -ll -p ${PORT} -e sh /payloads/serve-${payload}`;
  const server = hostile("server", script, { volumeMounts: [{ name: "payloads", mountPath: "/payloads" }] });
  const users = each(size(2, 8), (name) => hostile(name, REST, fields), "user");
  const volumes = [{ name: "payloads", hostPath: { path: folder(bench) } }];
  return tenantPod(bench, pod, [server, ...users], { volumes });
}

function serversAttack(name: string, payloads: readonly Payload[], fields: Fields): Attack {
  const count = Math.max(payloads.length, size(2, 10));
  return tenantAttack({
    ...{ name, seconds: size(15, 40) },
    prepare: (bench) => write(bench, payloads),
    pods: (bench) => each(count, (pod, at) => podOf(bench, pod, at % payloads.length, fields)),
    // All containers, and as many connections.
    effect: { runs: 2 * count * (1 + size(2, 8)) },
  });
}

const probes = (probe: Fields): Fields => ({
  readinessProbe: { ...OFTEN, ...probe },
  livenessProbe: { ...OFTEN, ...probe },
});
const https = { httpGet: { port: PORT, scheme: "HTTPS" } };

/**
 * Small pods whose probes and hooks go to servers that speak HTTP/2 by TLS. No image of the tests has such a server: it
 * runs beside the kubelet.
 */
function http2Attack(): Attack {
  let servers: Http2Servers | undefined;
  const users = size(2, 8);
  const fieldsOf = (port: number): Fields => {
    const httpGet = { host: "127.0.0.1", port, path: "/", scheme: "HTTPS" };
    return { ...probes({ httpGet }), lifecycle: { postStart: { httpGet } } };
  };
  return tenantAttack({
    ...{ name: "HTTPS probes and hooks whose server floods by HTTP/2", seconds: size(15, 40) },
    prepare: async () => {
      servers = await Http2Servers.start();
    },
    pods: (bench) =>
      each(servers?.ports.length ?? 0, (pod, at) => {
        const fields = fieldsOf(servers?.ports[at] ?? 0);
        return tenantPod(
          bench,
          pod,
          each(users, (name) => hostile(name, REST, fields), "user"),
        );
      }),
    effect: { runs: 2 * users },
    beforeEnd: async () => {
      const connections = await servers?.stop();
      if ((connections ?? 0) === 0) throw new Error("no client agreed on HTTP/2");
    },
  });
}

export const TENANT_SERVERS: readonly Attack[] = [
  serversAttack("HTTPS probes whose server is hostile", TLS, probes(https)),
  serversAttack(
    "HTTP probes whose server is hostile",
    Object.values(HTTP1_FLOODS),
    probes({ httpGet: { port: PORT } }),
  ),
  serversAttack("gRPC probes whose server is hostile", Object.values(HTTP2_FLOODS), probes({ grpc: { port: PORT } })),
  http2Attack(),
  serversAttack("HTTPS hooks whose server is hostile", TLS, { lifecycle: { postStart: https } }),
  serversAttack("HTTP hooks whose server is hostile", Object.values(HTTP1_FLOODS), {
    lifecycle: { postStart: { httpGet: { port: PORT } } },
  }),
];
