// Whatever is handled was authorised as exactly that route, verb and subresource: real connections to the authenticated
// port, arbitrary bytes.
// @headline Server | The route that is authorised is the one that answers. | any bytes

import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { FORMS, HOST, METHODS, targetsTo } from "./arbitrary-requests.js";
import { RecordedPort } from "./authorised-route-kit.js";
import { Certificates } from "./secure-port-kit.js";

/** By the first segment of a route: any one of them suffices, in this order. All other routes are the proxy's. */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = {
  healthz: ["healthz", "proxy"],
  pods: ["pods", "proxy"],
  runningpods: ["pods", "proxy"],
  configz: ["configz", "proxy"],
  ui: ["ui", "proxy"],
  stats: ["stats"],
  metrics: ["metrics"],
  logs: ["log"],
  checkpoint: ["checkpoint"],
  flagz: ["configz"],
  statusz: ["statusz"],
  manifests: ["manifests"],
};
const RIGHTS = [...new Set([...Object.values(SUBRESOURCES).flat(), "proxy"])];
const VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

interface Sent {
  /** In which of FORMS a request over HTTP/1 is written. */
  readonly form: number;
  readonly method: string;
  readonly target: string;
  readonly rights: readonly string[];
}

function sentTo(paths: readonly string[]): fc.Arbitrary<Sent> {
  const rights = fc.oneof(fc.constant(RIGHTS), fc.subarray(RIGHTS));
  return fc.record({ form: fc.nat(FORMS.length - 1), method: METHODS, target: targetsTo(paths), rights });
}

/** Requests at once, and their number in all. */
const AT_ONCE = 12;
const RUNS = { http1: 30, http2: 100 };

describe("whatever is handled was authorised as that route, verb and subresource", () => {
  let certificates: Certificates;
  let port: RecordedPort;
  let unprotected: RecordedPort;
  before(async () => {
    certificates = await Certificates.create();
    port = await RecordedPort.open(certificates, "Webhook");
    unprotected = await RecordedPort.open(certificates, "AlwaysAllow");
  });
  after(async () => {
    await port.close();
    await unprotected.close();
    await certificates.remove();
  });

  let count = 0;
  /** @returns whether it was handled */
  const check = (number: string, { method, target, rights }: Sent): boolean => {
    const handled = port.handled.get(number);
    const asked = port.asked.get(number) ?? [];
    if (handled === undefined) return false;
    const what = `${method} ${JSON.stringify(target)} handled by ${handled.route.path}`;
    const wanted = SUBRESOURCES[handled.route.path.split("/")[1] ?? ""] ?? ["proxy"];
    const last = wanted.findIndex((subresource) => rights.includes(subresource));
    ok(last >= 0, `${what} without a right`);
    const questions = wanted.slice(0, last + 1).map((subresource, index) => ({
      verb: VERBS[method] ?? "",
      subresource,
      allowed: index === last,
    }));
    deepEqual(asked, questions, what);
    equal(handled.method, method, what);
    const filled = handled.route.path.replaceAll(
      /:(\w+)|\*/g,
      (name, word?: string) => handled.call.params[word ?? name] ?? "",
    );
    const { path } = handled.call.target;
    ok(path === filled || (handled.route.service !== undefined && path === `${filled}/`), `${what}: ${path}`);
    return true;
  };

  const search = async (send: (sent: Sent, token: string) => Promise<unknown>, numRuns: number): Promise<number> => {
    let handled = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(sentTo(port.paths), { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
        const numbered = requests.map((sent) => ({ sent, number: String(count++) }));
        await Promise.all(numbered.map(({ sent, number }) => send(sent, [number, ...sent.rights].join("."))));
        for (const { sent, number } of numbered) if (check(number, sent)) handled++;
        equal(port.handled.get("hidden"), undefined, "a request was found in the body of another");
      }),
      { numRuns },
    );
    return handled;
  };

  const http1 = ({ form, method, target }: Sent, token: string): Promise<string> => {
    const hidden = `GET /healthz HTTP/1.1\r\n${HOST}Authorization: Bearer hidden.${RIGHTS.join(".")}\r\n\r\n`;
    return port.raw(FORMS[form]?.(`${method} ${target}`, token, hidden) ?? "");
  };
  const http2 = ({ method, target }: Sent, token: string): Promise<number | undefined> =>
    port.http2({
      ":method": method,
      ":path": target,
      ":scheme": "https",
      ":authority": "node:1",
      authorization: `Bearer ${token}`,
    });

  test("a request of HTTP/1.1 is answered by the authorised route", async () => {
    ok((await search(http1, RUNS.http1)) > AT_ONCE);
  });

  test("a request of HTTP/2 is answered by the authorised route", async () => {
    ok((await search(http2, RUNS.http2)) > AT_ONCE);
  });

  test("of HTTP/2 with a scheme of its own, whose paths Node's parser does not check", async () => {
    const odd = async ({ method, target }: Sent, token: string): Promise<void> => {
      const headers = { ":method": method, ":scheme": "x", ":authority": "node:1", authorization: `Bearer ${token}` };
      const status = await port.http2({ ...headers, ":path": target });
      ok(status === undefined || status === 400, `${method} ${JSON.stringify(target)}: ${status}`);
    };
    equal(await search(odd, RUNS.http1), 0);
  });

  test("the manifest API serves no anonymous request, where users may do everything", async () => {
    await fc.assert(
      fc.asyncProperty(
        sentTo(unprotected.paths.filter((path) => path.startsWith("/manifests"))),
        async ({ method, target }) => {
          unprotected.handled.clear();
          await unprotected.raw(`${method} ${target} HTTP/1.1\r\nHost: node:1\r\nConnection: close\r\n\r\n`);
          await unprotected.http2({ ":method": method, ":path": target, ":scheme": "https", ":authority": "node:1" });
          const route = unprotected.handled.get("")?.route.path ?? "";
          ok(!route.startsWith("/manifests"), `${method} ${JSON.stringify(target)} handled by ${route}`);
        },
      ),
      { numRuns: 150 },
    );
  });

  for (const target of [
    "/manifests#",
    "*manifests/default/evil",
    "/manifests?#",
    "#/manifests",
    "*",
    "manifests",
    "x://node:1/manifests",
  ]) {
    test(`${target} is 400 before the gate`, async () => {
      const number = String(count++);
      const token = [number, ...RIGHTS].join(".");
      const text = await http1({ form: 0, method: "GET", target, rights: RIGHTS }, token);
      equal(text.slice(0, 12), "HTTP/1.1 400");
      const status = await http2({ form: 0, method: "GET", target, rights: RIGHTS }, token);
      ok(status === undefined || status === 400, String(status));
      equal(port.asked.get(number), undefined);
      equal(port.handled.get(number), undefined);
    });
  }
});
