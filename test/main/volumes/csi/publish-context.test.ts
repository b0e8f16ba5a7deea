// The token requests of a CSIDriver object, whose number the API server chooses.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterObjects } from "../../../../src/main/model/cluster-access.js";
import type { CsiVolume } from "../../../../src/main/volumes/csi/csi-volume.js";
import type { DriverSpec } from "../../../../src/main/volumes/csi/driver-objects.js";
import { nodePublishContext } from "../../../../src/main/volumes/csi/publish-context.js";
import { pod } from "../../../support/pods.js";

test("of thousands of tokens that a driver's object asks for, eight are requested at a time", async () => {
  let [running, most] = [0, 0];
  const tokens = {
    async get({ audience = "" }) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { token: `token of ${audience}`, expiresAt: 0 };
    },
  } as unknown as ClusterObjects["tokens"];
  const tokenRequests = Array.from({ length: 2000 }, (_, index) => ({ audience: `a${index}` }));
  const driver = { tokenRequests } as unknown as DriverSpec;
  const { signal } = new AbortController();
  const { context } = await nodePublishContext(driver, pod(), {} as CsiVolume, tokens, signal);
  const issued = JSON.parse(context["csi.storage.k8s.io/serviceAccount.tokens"] ?? "{}") as Record<string, object>;
  assert.deepEqual([Object.keys(issued).length, most], [2000, 8]);
  assert.deepEqual(issued["a7"], { token: "token of a7", expirationTimestamp: "1970-01-01T00:00:00Z" });
});
