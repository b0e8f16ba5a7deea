import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { systemdNotifier } from "../../../../src/main/process/systemd/notify.js";
import { OsCallError } from "../../../../src/shared/io/os/errors.js";
import type { Logger } from "../../../../src/shared/telemetry/log/logger.js";
import { DatagramReceiver } from "../../../support/datagram-receiver.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const DELIVERY_MS = 5_000;

const scratch = await mkdtemp(join(tmpdir(), "nodelet-notify-"));
after(() => rm(scratch, { recursive: true }));

/** Collects the texts of warnings. */
function warnings(): { texts: string[]; log: Pick<Logger, "warn"> } {
  const texts: string[] = [];
  const warn = (_fields: unknown, text: string): void => void texts.push(text);
  return { texts, log: { warn } as unknown as Pick<Logger, "warn"> };
}

describe("systemd's notify socket", { timeout: 120_000 }, () => {
  for (const address of [join(scratch, "notify"), `@nodelet-notify/${process.pid}`]) {
    test(`${address.startsWith("@") ? "abstract" : "path"}: messages that systemd reads`, async () => {
      using receiver = new DatagramReceiver(address).listen();
      const env = { NOTIFY_SOCKET: address };
      const { texts, log } = warnings();
      const notifier = systemdNotifier(env, log);
      notifier?.ready("3 pods running");
      notifier?.watchdog();
      notifier?.status("two\n lines");
      notifier?.stopping();
      deepEqual(await receiver.until(({ length }) => length === 4), [
        "READY=1\nSTATUS=3 pods running",
        "WATCHDOG=1",
        "STATUS=two lines",
        "STOPPING=1",
      ]);
      deepEqual(texts, []);
      deepEqual(env, { NOTIFY_SOCKET: address });
    });
  }

  test("a full queue: the rest waits and follows in order, the newest last", async () => {
    using receiver = new DatagramReceiver(`@nodelet-notify-full/${process.pid}`);
    const { texts, log } = warnings();
    const notifier = systemdNotifier({ NOTIFY_SOCKET: receiver.address }, log);
    for (let pods = 0; pods < 1000; pods++) notifier?.status(`${pods}`);
    notifier?.stopping();
    receiver.listen();
    await notifier?.flush();
    await receiver.until((received) => received.at(-1) === "STOPPING=1");
    equal(receiver.received.at(-2), "STATUS=999");
    equal(receiver.received[0], "STATUS=0");
    const order = receiver.received.slice(0, -1).map((text) => Number(text.slice("STATUS=".length)));
    deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    deepEqual(texts, []);
  });

  for (const address of [join(scratch, "nobody"), "@nodelet-notify-nobody", "vsock:2:1"]) {
    test(`${address.slice(0, 20)}: a missing listener is logged once, never thrown`, () => {
      const { texts, log } = warnings();
      const notifier = systemdNotifier({ NOTIFY_SOCKET: address }, log);
      notifier?.ready("");
      notifier?.watchdog();
      notifier?.stopping();
      equal(texts.length, 1);
      match(texts[0] ?? "", /cannot notify systemd at .*NOTIFY_SOCKET/);
    });
  }

  test("a queue that stays full is given up after a while, and the next message is tried", async () => {
    const clock = new SteppedClock();
    const { texts, log } = warnings();
    const sent: string[] = [];
    let full = true;
    const notifier = systemdNotifier({ NOTIFY_SOCKET: "@x" }, log, clock, (to, text) => {
      if (full) throw new OsCallError("sendto", 11, to);
      sent.push(text);
    });
    notifier?.watchdog();
    let over = false;
    const flushed = notifier?.flush().then(() => (over = true));
    for (let ms = 0; ms <= DELIVERY_MS && clock.pending > 0; ms += 50) {
      equal(over, false);
      clock.step(50);
      await Promise.resolve().then(() => Promise.resolve());
    }
    await flushed;
    equal(texts.length, 1);
    full = false;
    notifier?.stopping();
    deepEqual(sent, ["STOPPING=1"]);
    equal(clock.pending, 0);
  });

  test("a message does not overtake one that waits", async () => {
    const clock = new SteppedClock();
    const sent: string[] = [];
    let full = true;
    const notifier = systemdNotifier({ NOTIFY_SOCKET: "@x" }, warnings().log, clock, (to, text) => {
      if (full) throw new OsCallError("sendto", 11, to);
      sent.push(text);
    });
    notifier?.ready("up");
    full = false;
    notifier?.stopping();
    deepEqual(sent, []);
    clock.step(50);
    await notifier?.flush();
    deepEqual(sent, ["READY=1\nSTATUS=up", "STOPPING=1"]);
  });

  test("no socket, no notifier", () => {
    equal(systemdNotifier({}, warnings().log), undefined);
    equal(systemdNotifier({ NOTIFY_SOCKET: "" }, warnings().log), undefined);
  });
});
