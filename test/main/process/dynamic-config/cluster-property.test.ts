// For all assignments, edits, refusals of the API server and exits of a kubelet. The running configuration has passed
// its trial or is on trial. A rolled back one does not run again while it stays the same.
// @promise Configuration and manifests: The running configuration has passed its trial or is on trial, for any
//   assignments, edits, refusals and exits. A rolled back one does not run until it changes. If the first ConfigMap
//   makes the kubelet crash, it returns to the node's own files.
// @with test/main/process/dynamic-config/decide.test.ts, test/main/process/dynamic-config/cluster-source.test.ts

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { ClusterNode } from "./cluster-kit.js";
import { storeFolder } from "./kit.js";

const MAX_TRIAL_STARTS = 3;
const TEXTS = ["map 1", "map 2", "crashing map", "invalid map"] as const;
const OWN = ["own 1", "own 2", "crashing own"] as const;
type Command =
  | { assign: (typeof TEXTS)[number]; version: number }
  | { own: (typeof OWN)[number] }
  | "unassign"
  | "forbid"
  | "refuse"
  | "evil"
  | "silence"
  | "restart"
  | "kill"
  | "failedStart"
  | "elapse";

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ assign: fc.constantFrom(...TEXTS), version: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constantFrom(...OWN).map((own) => ({ own })) },
  {
    weight: 9,
    arbitrary: fc.constantFrom<Command>(
      ...(["unassign", "forbid", "refuse", "evil", "silence", "restart", "kill", "failedStart", "elapse"] as const),
    ),
  },
);

class Model {
  private readonly proven = new Set<string>();
  private constructor(private readonly node: ClusterNode) {}

  static async run(commands: readonly Command[]): Promise<void> {
    const node = new ClusterNode(await storeFolder(), "own 1");
    try {
      await node.start();
      const model = new Model(node);
      model.check();
      for (const one of commands) await model.apply(one);
      await node.end();
    } finally {
      await rm(node.directory, { recursive: true, force: true });
    }
  }

  private async apply(one: Command): Promise<void> {
    const { node } = this;
    if (typeof one === "object") {
      if ("assign" in one) node.assign(one.assign, String(one.version));
      else node.own = one.own;
    } else if (one === "unassign") node.unassign();
    else if (one === "forbid") node.fail("forbidden");
    else if (one === "refuse") node.refuse("not in the list");
    else if (one === "evil") node.assign("evil", "1", { namespace: "dev", name: "evil" });
    else if (one === "silence") node.silence();
    else if (one === "elapse") await this.elapse();
    else {
      if (one === "restart") await node.dynamic.endedInOrder();
      if (one === "failedStart") await node.dynamic.startFailed("x");
      await this.next();
      await this.crash();
    }
    this.check();
  }

  /** A supervisor starts a crashing kubelet again at once. */
  private async crash(): Promise<void> {
    for (let starts = 1; this.text.startsWith("crashing"); starts++) {
      const isStuck = starts > MAX_TRIAL_STARTS + 1;
      if (isStuck) {
        assert.equal(this.proven.size, 0, "a crashing configuration is not left for a proven one");
        assert.ok(this.node.own?.startsWith("crashing"), "a crashing ConfigMap is not left for the node's own files");
        return;
      }
      await this.next();
    }
  }

  private async elapse(): Promise<void> {
    if (this.text.startsWith("crashing")) return;
    await this.node.prove();
    this.proven.add(this.node.dynamic.active?.digest ?? "");
  }

  private async next(): Promise<void> {
    await this.node.restart();
    this.check();
  }

  private get text(): string {
    return this.node.dynamic.files?.config?.text ?? "";
  }

  private check(): void {
    const { active, meta } = this.node.dynamic;
    assert.ok(active !== undefined, "nothing runs");
    const good = meta.get("last-known-good")?.digest;
    const onTrial = meta.get("trial")?.digest === active.digest;
    assert.ok(onTrial || active.digest === good, "what runs is neither proven nor on trial");
    assert.ok(good === undefined || this.proven.has(good), "an unproven configuration is trusted");
    assert.equal(
      meta.bad.some(({ digest }) => digest === active.digest),
      false,
      "a rolled back configuration runs",
    );
    assert.notEqual(this.text, "evil", "a ConfigMap outside the list runs");
    assert.equal(this.text.startsWith("invalid"), false, "an invalid configuration runs");
  }
}

test("property: the running configuration is proven or on trial; one that was rolled back does not run again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), (commands) => Model.run(commands)),
    { numRuns: 100 },
  );
});
