import assert from "node:assert/strict";
import { test } from "node:test";
import { dottedSysctl } from "../../../src/main/model/sysctl-name.js";

test("a sysctl name with slashes becomes one with dots, and the dot of an interface becomes a slash", () => {
  assert.equal(dottedSysctl("net/ipv4/conf/eno2.100/rp_filter"), "net.ipv4.conf.eno2/100.rp_filter");
  assert.equal(dottedSysctl("net.ipv4.conf.eno2/100.rp_filter"), "net.ipv4.conf.eno2/100.rp_filter");
});
