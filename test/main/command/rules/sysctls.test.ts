// Patterns of allowedUnsafeSysctls. Expected is what upstream's NewAllowlist of Kubernetes 1.36 takes.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { violationsOf } from "./example.js";

const TAKEN = [
  "kernel.shm*",
  "kernel.msg*",
  "kernel.shm",
  "kernel.sem",
  "kernel.shmmax",
  "kernel.msgmax",
  "kernel.shm_rmid_forced",
  "kernel/shm*",
  "net.*",
  "net.ipv4.*",
  "net/ipv4/x",
  "net.ipv4.conf.eth0/1.x",
  "net.core.somaxconn",
  "fs.mqueue.*",
  "fs.mqueue.a",
];
const OTHER = ["kernel.*", "*", "vm.swappiness", "vm.*", "kernel.se*", "fs.mqueue", "fs.*", "net", "net*", "n*"];
const NO_NAME = [
  "",
  "net.",
  "a b",
  "net.a b",
  "net.A",
  "net..a",
  "net.*.x",
  "net.**",
  " net.*",
  "net.* ",
  "a".repeat(254),
];

const problems = (text: string): string[] =>
  violationsOf({ allowedUnsafeSysctls: [text] }).map(({ path, message }) => `${path}: ${message}`);

describe("allowed sysctls", () => {
  for (const text of TAKEN) test(`takes ${text}`, () => deepEqual(problems(text), []));
  for (const text of [...OTHER, "kernel.hostname", "kernel.domainname"]) {
    test(`refuses ${text}, which is the whole machine's`, () => {
      equal(problems(text).length, 1);
      match(problems(text)[0] ?? "", /^allowedUnsafeSysctls\[0\]: .* belongs to no namespace of the kernel/);
    });
  }
  for (const text of NO_NAME) {
    test(`refuses ${JSON.stringify(text.slice(0, 20))}, which is no name`, () =>
      match(problems(text).join(), /^allowedUnsafeSysctls\[0\]: .* is not a sysctl such as kernel.msgmax/));
  }
});
