// logind over a bus of the test's own.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { BusAddressError, InhibitDelayTooShortError } from "../../../../src/main/node/shutdown/errors.js";
import { ensureInhibitDelay } from "../../../../src/main/node/shutdown/inhibit-delay.js";
import { connectLogind, type Logind } from "../../../../src/main/node/shutdown/logind.js";
import { systemBusSocket } from "../../../../src/main/node/shutdown/system-bus.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { FakeLogind } from "../../../support/fake-logind.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const SYSTEM_BUS_SOCKET = "/run/dbus/system_bus_socket";

let dir: string;
let fake: FakeLogind;
let clock: SteppedClock;
let logind: Logind | undefined;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-logind-"));
});
after(() => rm(dir, { recursive: true, force: true }));
beforeEach(async () => {
  fake = new FakeLogind(join(dir, "bus"));
  clock = new SteppedClock();
  await fake.listen();
});
afterEach(async () => {
  logind?.close();
  logind = undefined;
  await fake.die();
});

async function connect(): Promise<Logind> {
  logind = await connectLogind(fake.socketPath, clock);
  return logind;
}

async function watched(): Promise<{ heard: boolean[]; logind: Logind }> {
  const heard: boolean[] = [];
  const connected = await connect();
  await connected.watch((preparing) => heard.push(preparing));
  return { heard, logind: connected };
}

const allReceived = (heard: boolean[], count: number): Promise<void> =>
  until("the signals", () => heard.length >= count);

test("a shutdown and its cancellation are heard, in order", async () => {
  const { heard, logind } = await watched();
  assert.equal(await logind.preparing(), false);
  fake.prepare(true);
  fake.prepare(false);
  await allReceived(heard, 2);
  assert.deepEqual(heard, [true, false]);
  fake.preparing = true;
  assert.equal(await logind.preparing(), true);
});

test("only signals of logind are accepted", async () => {
  const { heard } = await watched();
  fake.forge(true);
  fake.prepare(false);
  await allReceived(heard, 1);
  assert.deepEqual(heard, [false]);
});

test("another logind, or none: the connection is closed", async () => {
  const { logind } = await watched();
  fake.ownerChanged(":1.5");
  assert.equal(await logind.inhibitDelayMs(), 60_000, "the same one");
  fake.ownerChanged("");
  await logind.lost;
  await assert.rejects(logind.preparing(), OperatorError);
});

test("a bus that goes away ends the calls under way, and those to come", async () => {
  const { logind } = await watched();
  fake.silent.add("Get");
  const cut = assert.rejects(logind.preparing(), OperatorError);
  await fake.die();
  await cut;
  await logind.lost;
  await assert.rejects(logind.reload(), OperatorError);
  assert.equal(clock.pending, 0);
});

test("a refusal names the sender and the call", async () => {
  fake.refused.set("Get", ["org.freedesktop.DBus.Error.ServiceUnknown", "The name is not activatable"]);
  await assert.rejects(watched(), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /^Get of org\.freedesktop\.login1 was refused: The name is not activatable/);
    return true;
  });
});

test("no response is an error after five seconds", async () => {
  const { logind } = await watched();
  fake.silent.add("Get");
  const call = assert.rejects(logind.preparing(), OperatorError);
  clock.step(5000);
  await call;
});

test("a socket without a listener is an error, not an unhandled rejection", async () => {
  await assert.rejects(connectLogind(join(dir, "none"), clock));
  assert.equal(clock.pending, 0);
});

test("a delay that is long enough is left alone", async () => {
  await ensureInhibitDelay(60_000, { logind: await connect(), ...rest(join(dir, "untouched")) });
  assert.ok(!fake.calls.includes("KillUnit"));
  await assert.rejects(readFile(join(dir, "untouched", "99-kubelet.conf")));
});

test("a short delay: a drop-in, a reload, and logind says more", async () => {
  fake.delayMs = 5000;
  fake.delayAfterReloadMs = 31_000;
  const conf = join(dir, "conf", "logind.conf.d");
  await ensureInhibitDelay(30_500, { logind: await connect(), ...rest(conf) });
  assert.match(await readFile(join(conf, "99-kubelet.conf"), "utf8"), /^\[Login\]\nInhibitDelayMaxSec=31\n/m);
  assert.equal(fake.calls.filter((call) => call === "KillUnit").length, 1);
});

test("still too short, or not to be written: an error with a remedy", async () => {
  fake.delayMs = 5000;
  const stuck = ensureInhibitDelay(30_000, { logind: await connect(), ...rest(join(dir, "conf2")) });
  const rejected = assert.rejects(stuck, (error) => {
    assert.ok(error instanceof InhibitDelayTooShortError);
    assert.match(error.message, /for 5 s at most, pods are to get 30 s, although .* set InhibitDelayMaxSec=30/);
    return true;
  });
  let over = false;
  void rejected.then(() => (over = true));
  await until("the end of patience", () => {
    clock.step(100);
    return over;
  });

  await writeFile(join(dir, "file"), "");
  const refused = ensureInhibitDelay(30_000, { logind: await connect(), ...rest(join(dir, "file")) });
  await assert.rejects(refused, /could not be written: .* set InhibitDelayMaxSec=30/);
});

test("the bus is where every D-Bus library looks for it", () => {
  const at = (address: string): string => systemBusSocket({ DBUS_SYSTEM_BUS_ADDRESS: address });
  assert.equal(systemBusSocket({}), SYSTEM_BUS_SOCKET);
  assert.equal(at(""), SYSTEM_BUS_SOCKET);
  assert.equal(at("unix:path=/tmp/a%20b,guid=00"), "/tmp/a b");
  assert.equal(at("tcp:host=x,port=1;unix:guid=00,path=/tmp/bus"), "/tmp/bus");
  assert.throws(() => at("tcp:host=x,port=1"), BusAddressError);
});

function rest(confDir: string) {
  return { confDir, clock, log: keptLog().log, signal: new AbortController().signal };
}
