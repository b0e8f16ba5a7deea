// For all edits of an operator and all exits of a kubelet. A configuration marked bad never runs, and only a proven
// one is trusted. If there is a good one, the kubelet rolls a crashing configuration back after a bounded number of
// starts.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import type { DynamicConfig } from "../../../../src/main/process/dynamic-config/dynamic-config.js";
import { prepareConfiguration } from "../../../../src/main/process/dynamic-config/prepare.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { EditedSource, storeFolder, textOfActive, validate } from "./kit.js";

const MAX_TRIAL_STARTS = 3;
const TEXTS = ["good 1", "good 2", "crashing 1", "crashing 2", "invalid 1", undefined] as const;
type Command = { edit: (typeof TEXTS)[number] } | "restart" | "kill" | "failedStart" | "elapse";

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS).map((edit) => ({ edit })) },
  { weight: 5, arbitrary: fc.constantFrom<Command>("restart", "kill", "failedStart", "elapse") },
);

class Model {
  readonly proven = new Set<string>();
  /** Starts in a row that ended in a crash. */
  private crashes = 0;
  private constructor(
    private readonly directory: string,
    private readonly source: EditedSource,
    private dynamic: DynamicConfig,
  ) {}

  static async run(commands: readonly Command[]): Promise<void> {
    const directory = await storeFolder();
    const source = new EditedSource("good 1");
    try {
      const model = new Model(directory, source, await start(directory, source));
      model.check();
      for (const one of commands) await model.apply(one);
      await model.dynamic.flush();
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  private async apply(one: Command): Promise<void> {
    if (typeof one === "object") this.source.edit(one.edit);
    else if (one === "elapse") await this.elapse();
    else {
      if (one === "restart") await this.dynamic.endedInOrder();
      if (one === "failedStart") await this.dynamic.startFailed("x");
      await this.next();
      // The supervisor starts a crashing agent again at once.
      for (this.crashes = 0; textOfActive(this.dynamic)?.startsWith("crashing") === true;) {
        if (++this.crashes > MAX_TRIAL_STARTS && this.proven.size > 0)
          assert.fail("a crashing configuration is not left");
        if (this.crashes > MAX_TRIAL_STARTS + 2) break;
        await this.next();
      }
    }
    this.check();
  }

  private async elapse(): Promise<void> {
    const active = this.dynamic.active;
    if (active === undefined || textOfActive(this.dynamic)?.startsWith("crashing") === true) return;
    await this.dynamic.trialPassed(active.digest);
    this.proven.add(active.digest);
  }

  private async next(): Promise<void> {
    await this.dynamic.flush();
    this.dynamic = await start(this.directory, this.source);
    this.check();
  }

  private check(): void {
    const { active, meta } = this.dynamic;
    const bad = new Set(meta.bad.map(({ digest }) => digest));
    if (active !== undefined) assert.equal(bad.has(active.digest), false, "a bad configuration runs");
    const good = meta.get("last-known-good")?.digest;
    if (good !== undefined) assert.equal(this.proven.has(good), true, "an unproven configuration is trusted");
    if (this.proven.size > 0) assert.notEqual(good, undefined, "what was proven is forgotten");
    assert.notEqual(active, undefined, "nothing runs although something could");
    assert.equal(textOfActive(this.dynamic)?.startsWith("invalid"), false, "an invalid configuration runs");
  }
}

function start(directory: string, source: EditedSource): Promise<DynamicConfig> {
  const { log } = keptLog();
  const record = (): void => undefined;
  return prepareConfiguration({
    directory,
    source,
    allowedSources: [],
    validate,
    record,
    clock: new SteppedClock(),
    log,
  });
}

test("property: bad never runs, only proven is trusted, crashes end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), (commands) => Model.run(commands)),
    { numRuns: 100 },
  );
});
