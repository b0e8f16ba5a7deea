// The kubelet's chains in iptables, on a program that keeps tables as files. The kubelet creates them once and
// restores them after a flush. A failure of iptables causes only a warning.
// @promise Resources of the node: The kubelet's chains in iptables and ip6tables; restored after a flush; failures of
//   iptables are one warning.
// @with test/integration/agent-start.test.ts

import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { keepIptablesChains } from "../../../../src/main/containers/network/iptables-chains.js";
import { waitFor } from "../../../../tools/standalone/wait.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const CHECK_EVERY_MS = 60_000;

/** $1 $2: -w 5, $3 $4: -t and the table, $5: the operation, $6: the chain, then the rule. */
const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
[ -e hang ] && exec sleep 1000
if [ -e fail ]; then echo "the kernel says no" >&2; exit 4; fi
op=$5 file="table.$4.$6"
shift 6
case $op in
  -N) [ -e "$file" ] && exit 1; : > "$file" ;;
  -S) [ -e "$file" ] || exit 1 ;;
  -C) grep -qxF -- "$*" "$file" || exit 1 ;;
  -A) echo "$*" >> "$file" ;;
  -I) { echo "$*"; cat "$file"; } > new; mv new "$file" ;;
esac
`;

const V6 = [
  "table.filter.INPUT",
  "table.filter.KUBE-KUBELET-CANARY",
  "table.filter.OUTPUT",
  "table.mangle.KUBE-IPTABLES-HINT",
  "table.mangle.KUBE-KUBELET-CANARY",
  "table.nat.KUBE-KUBELET-CANARY",
];
const V4 = ["table.filter.KUBE-FIREWALL", ...V6].sort();
const RULE =
  "-m comment --comment block incoming localnet connections --dst 127.0.0.0/8 ! --src 127.0.0.0/8 " +
  "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP\n";

class SleepsCounted extends SteppedClock {
  sleeping = 0;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeping++;
    try {
      await super.sleep(ms, signal);
    } finally {
      this.sleeping--;
    }
  }
}

class World {
  readonly clock = new SleepsCounted();
  readonly kept = keptLog();
  private readonly ending = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(readonly dir: string) {}

  static async made(t: TestContext): Promise<World> {
    const world = new World(await mkdtemp(join(tmpdir(), "nodelet-iptables-")));
    await writeFile(join(world.dir, "iptables"), PROGRAM);
    await chmod(join(world.dir, "iptables"), 0o755);
    await world.put("table.filter.INPUT", "-j FIRST\n");
    await world.put("table.filter.OUTPUT", "");
    t.after(async () => {
      await world.stop();
      await rm(world.dir, { recursive: true, force: true });
    });
    return world;
  }

  start(firewall = true, program = join(this.dir, "iptables")): void {
    const { clock, kept } = this;
    this.running = keepIptablesChains({ program, firewall, clock, log: kept.log }, this.ending.signal);
  }

  async stop(): Promise<void> {
    this.ending.abort(new Error("the test ends"));
    await this.running;
  }

  get ended(): Promise<void> {
    return this.running;
  }

  put(name: string, text = ""): Promise<void> {
    return writeFile(join(this.dir, name), text);
  }
  text(name: string): Promise<string> {
    return readFile(join(this.dir, name), "utf8").catch(() => "");
  }
  async tables(): Promise<string[]> {
    return (await readdir(this.dir)).filter((name) => name.startsWith("table.")).sort();
  }
  async flush(): Promise<void> {
    for (const name of await this.tables()) {
      if (name.includes("KUBE")) await rm(join(this.dir, name));
      else await this.put(name);
    }
  }

  /** Lets time pass until it holds. */
  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    await waitFor(
      async () => {
        if (await holds()) return true;
        // While the kubelet sleeps, no program runs whose deadline could pass.
        if (this.clock.sleeping > 0) this.clock.step(10_000);
        return false;
      },
      { what, timeoutMs: 60_000, intervalMs: 5 },
    );
  }

  warnings(): string[] {
    return this.kept.warnings();
  }
}

test("IPv4: hint, canaries, and the firewall before other rules", async (t) => {
  const world = await World.made(t);
  world.start();
  await world.until("all chains", async () => (await world.tables()).join() === V4.join());
  assert.equal(await world.text("table.filter.INPUT"), "-j KUBE-FIREWALL\n-j FIRST\n");
  assert.equal(await world.text("table.filter.OUTPUT"), "-j KUBE-FIREWALL\n");
  assert.equal(await world.text("table.filter.KUBE-FIREWALL"), RULE);
});

test("IPv6: hint and canaries, no firewall", async (t) => {
  const world = await World.made(t);
  world.start(false);
  await world.until("all chains", async () => (await world.tables()).join() === V6.join());
  assert.equal(await world.text("table.filter.INPUT"), "-j FIRST\n");
});

test("chains and rules that exist are left alone", async (t) => {
  const world = await World.made(t);
  await world.put("table.filter.INPUT", "-j FIRST\n-j KUBE-FIREWALL\n");
  await world.put("table.filter.KUBE-FIREWALL", `-j OTHER\n${RULE}`);
  world.start();
  await world.until("all chains", async () => (await world.tables()).join() === V4.join());
  assert.equal(await world.text("table.filter.INPUT"), "-j FIRST\n-j KUBE-FIREWALL\n");
  assert.equal(await world.text("table.filter.KUBE-FIREWALL"), `-j OTHER\n${RULE}`);
});

test("chains that another program flushes are restored", async (t) => {
  const world = await World.made(t);
  world.start();
  await world.until("all chains", async () => (await world.tables()).join() === V4.join());
  for (let flush = 0; flush < 2; flush++) {
    await world.flush();
    await world.until("all chains again", async () => (await world.tables()).join() === V4.join());
    await world.until("the firewall again", async () => (await world.text("table.filter.KUBE-FIREWALL")) === RULE);
    assert.equal(await world.text("table.filter.INPUT"), "-j KUBE-FIREWALL\n");
  }
  assert.deepEqual(world.warnings(), []);
});

test("a repeated failure causes one warning, and the chains are created after it", async (t) => {
  const world = await World.made(t);
  await world.put("fail");
  world.start();
  await world.until("several tries", async () => (await world.text("calls")).split("\n").length > 3);
  assert.deepEqual(world.warnings().length, 1);
  assert.match(world.warnings().join(), /failed with exit status 4: the kernel says no/);
  await rm(join(world.dir, "fail"));
  await world.until("all chains", async () => (await world.tables()).join() === V4.join());
});

test("a program that is missing is one warning, and nothing is tried again", async (t) => {
  const world = await World.made(t);
  world.start(true, join(world.dir, "no-such"));
  await world.ended;
  assert.match(world.warnings().join(), /no-such is not installed: the kubelet does not create KUBE-IPTABLES-HINT/);
  assert.equal(world.clock.pending, 0);
});

test("a program that hangs is killed at its deadline and tried again", async (t) => {
  const world = await World.made(t);
  await world.put("hang");
  world.start();
  await waitFor(async () => (await world.text("calls")) !== "", { what: "the first call", timeoutMs: 60_000 });
  world.clock.step(CHECK_EVERY_MS);
  await waitFor(() => world.warnings().length === 1, { what: "the warning", timeoutMs: 60_000 });
  assert.match(world.warnings().join(), /gave no response within 60 s, killed/);
  await rm(join(world.dir, "hang"));
  await world.until("all chains", async () => (await world.tables()).join() === V4.join());
});

test("a stop ends a program that hangs", async (t) => {
  const world = await World.made(t);
  await world.put("hang");
  world.start();
  await waitFor(async () => (await world.text("calls")) !== "", { what: "the first call", timeoutMs: 60_000 });
  await world.stop();
  assert.deepEqual(world.warnings(), []);
});
