import { deepEqual, equal, throws } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { sendDatagram, unixAddress } from "../../../../src/shared/io/os/datagram.js";
import { isOsCallError } from "../../../../src/shared/io/os/errors.js";
import { DatagramReceiver } from "../../../support/datagram-receiver.js";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-datagram-"));
after(() => rm(scratch, { recursive: true }));

describe("datagrams", { timeout: 120_000 }, () => {
  for (const address of [join(scratch, "socket"), `@nodelet-test/${process.pid}/é`]) {
    test(`to ${address.slice(0, 1)}…: each arrives whole`, async () => {
      using receiver = new DatagramReceiver(address).listen();
      sendDatagram(address, "one\nline");
      sendDatagram(address, "Zwölf");
      deepEqual(await receiver.until(({ length }) => length === 2), ["one\nline", "Zwölf"]);
    });
  }
  test("a socket without a listener", () => {
    throws(
      () => sendDatagram(join(scratch, "none"), "x"),
      (error) => isOsCallError(error, "ENOENT"),
    );
    throws(
      () => sendDatagram(`@nodelet-none/${process.pid}`, "x"),
      (error) => isOsCallError(error, "ECONNREFUSED"),
    );
  });
  test("a full queue refuses, it does not block", () => {
    using receiver = new DatagramReceiver(`@nodelet-full/${process.pid}`);
    const { address } = receiver;
    throws(
      () => {
        for (let sent = 0; sent < 100_000; sent++) sendDatagram(address, "x");
      },
      (error) => isOsCallError(error, "EAGAIN"),
    );
  });
});

describe("socket addresses", () => {
  test("a path ends with NUL, an abstract name begins with it", () => {
    equal(Buffer.from(unixAddress("/a")).toString("hex"), "01002f6100");
    equal(Buffer.from(unixAddress("@a")).toString("hex"), "01000061");
  });
  test("sun_path is 108 bytes", () => {
    equal(unixAddress(`/${"a".repeat(106)}`).length, 110);
    equal(unixAddress(`@${"a".repeat(107)}`).length, 110);
  });
  for (const bad of ["", "/", "@", "relative", "vsock:2:1", "/a\0b", `/${"a".repeat(107)}`, `@${"a".repeat(108)}`]) {
    test(`refused: ${JSON.stringify(bad.slice(0, 12))}`, () =>
      throws(() => unixAddress(bad), { name: "OperatorError" }));
  }
});
