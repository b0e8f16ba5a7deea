// The soak with the attacks of test/hostile in turn. The kubelet is attacked for the whole time, while pods of a
// cluster are created, changed and deleted. The node is that of the attacks, so it also has their operator and normal
// pod.

import { mkdir } from "node:fs/promises";
import { TENANT_FILES } from "../../test/hostile/attacks/tenant-files.js";
import { TENANT_LOAD } from "../../test/hostile/attacks/tenant-load.js";
import { TENANT_SPECS } from "../../test/hostile/attacks/tenant-specs.js";
import { HostileBench } from "../../test/hostile/bench.js";
import { NODE_NAME } from "../../test/support/cluster-node.js";
import { buildImages, BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { InspectedProcess } from "../lib/inspected-process.js";
import { benchFolder } from "../lib/places.js";
import { usageOf } from "../lib/process-usage.js";
import { ConfigChanges, Jobs, Resizes } from "./cluster-churn.js";
import { Activities, takeSample, verdict, type SoakResult, type SoakSample } from "./samples.js";

/**
 * Those with the largest objects first: what they make the kubelet load and hold belongs to the minutes before the fit.
 */
const ATTACKS = [...TENANT_SPECS.toReversed(), ...TENANT_FILES, ...TENANT_LOAD];

export async function benchSoakUnderAttack(minutes: number): Promise<SoakResult> {
  const base = benchFolder("attacks");
  await mkdir(base, { recursive: true });
  process.env["NODELET_TEST_DIR"] = base;
  process.env["NODELET_TEST_IMAGE"] = BUSYBOX_IMAGE;
  process.env["NODELET_TEST_IMAGES"] = await buildImages(`${base}/images`);
  const bench = await HostileBench.start();
  try {
    const { api, node } = bench;
    await using activities = new Activities([
      new Resizes(api, NODE_NAME),
      new ConfigChanges(api, NODE_NAME),
      new Jobs(api, NODE_NAME),
    ]);
    const pid = node.kubelet.pid ?? 0;
    using inspected = await InspectedProcess.open(pid);
    const samples: SoakSample[] = [];
    const results = new Map(ATTACKS.map(({ name }) => [name, { name, done: 0, failed: 0, failure: "" }]));
    const startedAt = performance.now();
    for (let turn = 0, elapsed = 0; elapsed < minutes; turn++) {
      const attack = ATTACKS[turn % ATTACKS.length];
      if (attack === undefined) throw new Error("there are no attacks");
      const until = performance.now() + attack.seconds * 1000;
      const [row] = await Promise.all([bench.run(attack), ...activities.rounds.map((one) => one.goOn(until))]);
      const rounds = results.get(attack.name);
      if (rounds !== undefined) {
        rounds.done += row.broken.length === 0 ? 1 : 0;
        rounds.failed += row.broken.length === 0 ? 0 : 1;
        rounds.failure = row.broken[0] ?? rounds.failure;
      }
      if (node.kubelet.pid !== pid) throw new Error(`the attack "${attack.name}": ${await node.kubelet.ending()}`);
      elapsed = (performance.now() - startedAt) / 60_000;
      samples.push({ ...(await takeSample(elapsed, inspected, () => usageOf(pid))), attack: attack.name });
    }
    const all = [...activities.results(), ...results.values()];
    return { seed: 0, steps: 0, activities: all, samples, ...verdict(samples, minutes) };
  } finally {
    await bench.stop();
  }
}
