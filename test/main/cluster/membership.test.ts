// Every request for the current Node object gets it, or an error.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Membership } from "../../../src/main/cluster/membership.js";
import type { ClusterObjects } from "../../../src/main/model/cluster-access.js";
import type { ApiClient } from "../../../src/shared/kubernetes/api/client/port.js";
import { away } from "../../support/memory-api.js";
import { keptLog } from "../../support/sources-kit.js";

test("before the cluster is joined, and while its server is away, there is no fresh node; an abort is an abort", async () => {
  const membership = new Membership(keptLog().log);
  const asked: unknown[] = [];
  let answer = (): Promise<unknown> => Promise.reject(away());
  const get = (...args: unknown[]): Promise<unknown> => {
    asked.push(args.slice(1));
    return answer();
  };
  const abort = new AbortController();
  const fresh = () => membership.freshNode("n1", abort.signal);
  assert.equal(await fresh(), undefined);
  membership.setObjects({ client: { get } as unknown as ApiClient } as ClusterObjects);
  assert.equal(await fresh(), undefined);
  answer = () => Promise.resolve({ metadata: { name: "n1" } });
  assert.deepEqual(await fresh(), { metadata: { name: "n1" } });
  assert.deepEqual(asked[0], [{ name: "n1" }, { signal: abort.signal, timeoutMs: 2000 }]);
  answer = () => {
    abort.abort(new Error("the pod is not wanted any more"));
    return Promise.reject(away());
  };
  await assert.rejects(fresh(), /not wanted any more/);
});
