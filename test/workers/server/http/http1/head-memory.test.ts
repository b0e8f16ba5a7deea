// Memory of heads: what each connection has, and what all share.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { HeadMemory, OWN_BYTES } from "../../../../../src/workers/server/http/http1/head-memory.js";

const MIB = 1024 * 1024;
const from = (remoteAddress: string): { remoteAddress: string } => ({ remoteAddress });

test("a connection always has its own bytes, more only while the pool and its network's half have them", () => {
  const memory = new HeadMemory({ pool: 4 * MIB, poolOfNetwork: 2 * MIB });
  const [first, second, third] = [
    memory.open(from("10.0.0.1")),
    memory.open(from("10.0.0.1")),
    memory.open(from("10.0.0.1")),
  ];
  const other = memory.open(from("10.0.0.2"));
  equal(first.read(OWN_BYTES + MIB), true);
  equal(second.read(OWN_BYTES + MIB), true);
  equal(third.read(OWN_BYTES), true);
  equal(third.read(OWN_BYTES + 1), false, "the network has its half");
  equal(other.read(OWN_BYTES + MIB), true);
  first.close();
  equal(third.read(OWN_BYTES + MIB), true);
});

test("a head counts until its response has ended", () => {
  const memory = new HeadMemory({ pool: MIB, poolOfNetwork: MIB });
  const [one, other] = [memory.open(from("10.0.0.1")), memory.open(from("10.0.0.2"))];
  equal(one.read(OWN_BYTES + MIB), true);
  const end = one.countHead(OWN_BYTES + MIB);
  equal(other.read(OWN_BYTES + 1), false);
  end();
  end();
  equal(other.read(OWN_BYTES + MIB), true);
  equal(one.read(OWN_BYTES + 1), false);
  equal(one.read(OWN_BYTES), true);
});

test("the addresses of one IPv6 network share its half", () => {
  const memory = new HeadMemory({ pool: 4 * MIB, poolOfNetwork: MIB });
  equal(memory.open(from("2001:db8::1")).read(OWN_BYTES + MIB), true);
  equal(memory.open(from("2001:db8::2")).read(OWN_BYTES + 1), false);
  equal(memory.open(from("2001:db8:0:1::2")).read(OWN_BYTES + MIB), true);
});
