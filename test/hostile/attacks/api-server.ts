// An API server that lies: answers that no honest one gives, for objects of the attack and for whole collections.
// Invariant: no answer says that the normal pod is gone; a pod whose deletion is believed would be right to end.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { join } from "node:path";
import { promisify } from "node:util";
import { sleep } from "../../../tools/standalone/wait.js";
import type { ApiObject, CallMatch } from "../../fake-api/fake-api.js";
import type { WriteAnswer } from "../../fake-api/faults.js";
import { waitFor } from "../../harness/node.js";
import { AGENT } from "../../support/faulty-cluster.js";
import { size, type Attack, type RunningAttack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { BYSTANDER } from "../bystander.js";
import { clientAttack } from "../unauthorised-client.js";
import { each, hostile, REST, tenantAttack, tenantPod } from "./tenant-kit.js";

const SECONDS = size(5, 25);
const MIB = 1024 * 1024;
const WATCH_PODS: CallMatch = { ...AGENT, resource: "pods", verb: "watch" };
/** Interim responses to one request. */
const MOST_INTERIM = 2_000_000;
/** Most bytes of one endless answer. */
const MOST_BYTES = 256 * MIB;

/** One evil pod runs meanwhile; `lie` sets faults at the fixture. */
function lying(
  name: string,
  lie: (bench: HostileBench, counted: () => void) => Promise<RunningAttack> | undefined,
  short?: true,
): Attack {
  const attack = tenantAttack({
    ...{ name, seconds: SECONDS, effect: { runs: 1 } },
    pods: (bench) =>
      each(1, (pod) =>
        tenantPod(bench, pod, [hostile("app", REST)], {
          volumes: [{ name: "c", configMap: { name: "evil", optional: true } }],
        }),
      ),
  });
  return {
    ...attack,
    family: "API server",
    ...(short === undefined ? {} : { short }),
    async start(bench) {
      const running = await attack.start(bench);
      let lies = 0;
      const liar = await lie(bench, () => lies++);
      bench.fixture.faults.cutWatchesNow("drop");
      return {
        async stop() {
          const did = await liar?.stop();
          bench.fixture.faults.clear();
          bench.fixture.dropConnections();
          // The administrator's connection broke, too.
          await waitFor(() => bench.api.find("pods", "default", BYSTANDER), {
            what: "the API server to respond again",
          });
          await running.stop();
          if (lies === 0) throw new Error("no lie was told");
          return did === undefined ? `${lies} responses` : `${lies} responses; ${did}`;
        },
      };
    },
  };
}

function open(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
}

/** Writes one piece again and again, as fast as the client reads, up to the bound. */
async function endless(response: ServerResponse, piece: Buffer, gone: AbortSignal): Promise<void> {
  for (let written = 0; written < MOST_BYTES && !gone.aborted; written += piece.length) {
    if (!response.write(piece)) await sleep(10);
    await sleep(5);
  }
}

/** A watch of lines. */
function lines(make: (index: number) => string, counted: () => void, pauseMs = 50): WriteAnswer {
  return async (response, _call, gone) => {
    open(response);
    for (let index = 0; index < 2_000 && !gone.aborted; index++) {
      response.write(make(index));
      counted();
      await sleep(pauseMs);
    }
  };
}

function evilPod({ fixture }: HostileBench, change: Partial<ApiObject["metadata"]>): ApiObject {
  const found = fixture.store.get("pods", "default", "evil-0");
  if (found === undefined) throw new Error("the pod of the attack is there");
  return { ...found, kind: "Pod", apiVersion: "v1", metadata: { ...found.metadata, ...change } };
}

const event = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

const wrongVersions = lying(
  "resource versions out of order, and deleted UIDs that return",
  (bench, counted) => {
    const versions = ["1", "", "999999999999999999999", "abc", "-1", "2"];
    const make = (index: number): string => {
      const resourceVersion = versions[index % versions.length] ?? "";
      const uid = index % 3 === 2 ? "00000000-0000-4000-8000-000000000001" : undefined;
      const pod = evilPod(bench, { resourceVersion, ...(uid === undefined ? {} : { uid }) });
      return event(["ADDED", "DELETED", "ADDED", "MODIFIED", "UNHEARD-OF"][index % 5] ?? "", pod);
    };
    bench.fixture.faults.answer(WATCH_PODS, lines(make, counted, 200));
  },
  true,
);

const hugeObjects = lying("objects and watch events of several megabytes", (bench, counted) => {
  const { fixture } = bench;
  const text = '\\"x'.repeat((size(4, 16) * MIB) / 3);
  const pod = (): ApiObject => evilPod(bench, { annotations: { text } });
  fixture.faults.answer(
    WATCH_PODS,
    lines((index) => event("MODIFIED", { ...pod(), spare: index }), counted, 1_000),
  );
  const map = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "evil", namespace: "default" }, data: { text } };
  fixture.faults.answer({ ...AGENT, resource: "configmaps" }, (response) => {
    counted();
    open(response);
    response.end(JSON.stringify(map));
  });
});

const everyRefusal = lying("every 4xx and 5xx status code in turn", ({ fixture }, counted) => {
  const codes = [
    400, 401, 402, 403, 405, 406, 409, 410, 411, 413, 415, 418, 422, 423, 425, 428, 429, 431, 451, 500, 501, 502, 503,
    504, 511,
  ];
  let index = 0;
  fixture.faults.answer(AGENT, (response) => {
    counted();
    response.writeHead(codes[index++ % codes.length] ?? 400, { "content-type": "application/json" });
    response.end(index % 2 === 0 ? "{" : JSON.stringify({ kind: "Status", code: "many", details: null, message: [] }));
  });
});

const endlessAnswers = lying("responses that never end", ({ fixture }, counted) => {
  const piece = Buffer.alloc(MIB / 4, " ");
  const endlessly =
    (start: string): WriteAnswer =>
    async (response, _call, gone) => {
      counted();
      open(response);
      response.write(start);
      await endless(response, piece, gone);
    };
  fixture.faults.answer(WATCH_PODS, endlessly('{"type":"ADDED","object":{"spec":"'));
  fixture.faults.answer({ ...AGENT, resource: "configmaps" }, endlessly('{"kind":"ConfigMap","data":{'));
  fixture.faults.answer({ ...AGENT, resource: "nodes" }, endlessly('{"kind":"NodeList","items":['));
  fixture.faults.answer({ ...AGENT, resource: "leases" }, endlessly("{"));
});

const garbage = lying("truncated and invalid JSON", (bench, counted) => {
  const bad = [
    '{"type":"ADDED","object":{',
    '{"type":"MODIFIED"}\n',
    event("ADDED", null),
    event("MODIFIED", []),
    event("DELETED", 5),
    event("MODIFIED", { kind: "Pod", metadata: null }),
    event("MODIFIED", { kind: "Secret", metadata: { name: 1, uid: {} } }),
    `${"[".repeat(200_000)}\n`,
    "\u0000\n",
  ];
  bench.fixture.faults.answer(
    WATCH_PODS,
    lines((index) => bad[index % bad.length] ?? "", counted, 100),
  );
  bench.fixture.faults.answer({ ...AGENT, resource: "configmaps" }, (response) => {
    counted();
    open(response);
    response.end('{"kind":"ConfigMap","data":{"a":');
  });
});

const tokenReviews = lying("TokenReviews that hang, are huge or contradict themselves", (bench, counted) => {
  const evil = { username: "system:admin", groups: ["system:masters"] };
  const statuses: unknown[] = [
    undefined,
    null,
    { authenticated: "true", user: evil },
    { authenticated: 1, user: evil },
    { authenticated: true },
    { authenticated: true, user: { username: "" } },
    { authenticated: true, user: { username: ["system:admin"], groups: "system:masters" } },
    { authenticated: false, user: evil, error: "no" },
    [],
  ];
  let index = 0;
  bench.fixture.faults.answer({ ...AGENT, resource: "tokenreviews" }, async (response, _call, gone) => {
    counted();
    const turn = index++;
    if (turn % 4 === 3) {
      if (!gone.aborted) await once(gone, "abort");
      return;
    }
    open(response);
    if (turn % 4 === 2) {
      await endless(response, Buffer.alloc(MIB / 4, " "), gone);
      return;
    }
    const review = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", metadata: {}, spec: {} };
    response.end(JSON.stringify({ ...review, status: statuses[turn % statuses.length] }));
  });
  const how = { method: "random-tokens", connections: 20, requests: size(200, 2_000) } as const;
  return clientAttack({ name: "tokens", seconds: SECONDS }, how).start(bench);
});

const interim = lying("interim responses without end", ({ fixture }, counted) => {
  const flood: WriteAnswer = async (response, _call, gone) => {
    counted();
    const { stream } = response as unknown as Http2ServerResponse;
    for (let sent = 0; sent < MOST_INTERIM && !gone.aborted && !stream.destroyed; sent++) {
      stream.additionalHeaders({ ":status": 103 });
      if (sent % 500 === 0) await sleep(5);
    }
  };
  fixture.faults.answer(WATCH_PODS, flood);
  for (const resource of ["configmaps", "nodes", "leases"]) fixture.faults.answer({ ...AGENT, resource }, flood);
});

/** What may stand at the path of a file. */
const IN_PLACE_OF_A_FILE: readonly ((path: string, text: string) => Promise<unknown>)[] = [
  (path) => promisify(execFile)("mkfifo", [path]),
  (path) => mkdir(path),
  (path) => symlink("/dev/zero", path),
  (path) => symlink("nowhere", path),
  async (path) => {
    await writeFile(path, "");
    await truncate(path, 200 * MIB);
  },
  (path, text) => writeFile(path, text.slice(0, text.length / 2)),
  (path, text) => writeFile(path, text),
];

const strangeFiles = lying(
  "certificate authorities as FIFOs, devices, folders and files of 200 MB, exchanged all the time",
  ({ dir, fixture }, counted) => {
    const path = join(dir, "client-ca.crt");
    const end = new AbortController();
    const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
    const exchange = async (): Promise<void> => {
      for (let turn = 0; !end.signal.aborted; turn++) {
        await remove();
        await IN_PLACE_OF_A_FILE[turn % IN_PLACE_OF_A_FILE.length]?.(path, fixture.ca);
        counted();
        // Each stays once in a while, so that a watch that waits for a calm moment reads it.
        await sleep(turn % 50 === 0 ? 400 : 2);
      }
      await remove();
      await writeFile(path, fixture.ca);
    };
    const exchanged = exchange();
    return Promise.resolve({
      async stop() {
        end.abort();
        await exchanged;
        return "each an exchange";
      },
    });
  },
);

export const API_SERVER: readonly Attack[] = [
  wrongVersions,
  hugeObjects,
  everyRefusal,
  endlessAnswers,
  garbage,
  tokenReviews,
  interim,
  strangeFiles,
];
