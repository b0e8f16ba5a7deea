// A runtime that lies: a proxy before a real containerd, under the real agent.
// @headline Hostile tenants and clients | Runtimes that lie hardly delay main, operators and probes. | ≤ 100 ms; 1 s; 1
//   s

import { join } from "node:path";
import { LyingRuntime } from "../support/lying-runtime.js";
import { runtimeAttacks } from "./attacks/runtime.js";
import { attackWith } from "./family.js";

let proxy: LyingRuntime | undefined;
function runtime(): LyingRuntime {
  if (proxy === undefined) throw new Error("the proxy was not started");
  return proxy;
}

attackWith(runtimeAttacks(runtime), {
  configure: (dir) => ({ config: { containerRuntimeEndpoint: `unix://${join(dir, "lies.sock")}` } }),
  beforeStart: async ({ endpoint }, dir) => {
    proxy = await LyingRuntime.start(`unix://${join(dir, "lies.sock")}`, endpoint);
  },
  afterStop: () => proxy?.stop(),
});
