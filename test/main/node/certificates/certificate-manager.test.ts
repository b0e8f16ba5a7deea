// A certificate is asked for, kept, and renewed in time; what goes wrong costs nothing that works.
// @promise Cluster: Certificates: requested, renewed at 70 to 90 % of their lifetime; a denied request is not repeated
//   quickly; a restart continues with the same request.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CertificateManager,
  rotationTime,
  serves,
  type CertificateManagerDeps,
} from "../../../../src/main/node/certificates/certificate-manager.js";
import type { CertificateSubject, DescribedCertificate } from "../../../../src/shared/contracts/tasks.js";
import { ApiConnectionError, ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const DAY = 24 * 3600_000;
const NODE = { commonName: "system:node:n1", organizations: ["system:nodes"] };

function certificate(fields: Partial<DescribedCertificate> = {}): DescribedCertificate {
  return { notBefore: 0, notAfter: 100 * DAY, dnsNames: [], ips: [], hasKey: true, ...NODE, ...fields };
}

class Kit {
  readonly clock = new SteppedClock();
  subject: CertificateSubject | undefined = NODE;
  kept: string[] = [];
  signed = 0;
  failures = 0;
  rotations: (number | undefined)[] = [];
  refuse: boolean | Error = false;
  /** Age of new certificates, milliseconds. */
  age = 0;
  readonly manager: CertificateManager;

  constructor(stored?: DescribedCertificate) {
    const deps: CertificateManagerDeps = {
      what: "client",
      store: {
        read: () => Promise.resolve(stored),
        keep: (pem) => {
          this.kept.push(pem);
          return Promise.resolve();
        },
      },
      tasks: {
        request: () => Promise.resolve({ key: "key", request: "request", keyDigest: "d" }),
        selfSigned: () => Promise.reject(new Error("not used")),
        describe: (pem) => {
          const { dnsNames = [], ips = [] } = this.subject ?? {};
          const now = this.clock.now() - this.age;
          return Promise.resolve(
            pem === "" ? undefined : certificate({ notBefore: now, notAfter: now + 100 * DAY, dnsNames, ips }),
          );
        },
      },
      subject: () => this.subject,
      sign: () => {
        this.signed++;
        return this.refuse !== false
          ? Promise.reject(this.refuse === true ? new Error("denied") : this.refuse)
          : Promise.resolve(`pem ${this.signed}`);
      },
      onRotated: (_, age) => this.rotations.push(age),
      onFailed: () => this.failures++,
      clock: this.clock,
      log: silentLog,
      random: () => 0.5,
    };
    this.manager = new CertificateManager(deps);
    this.manager.start();
  }

  /** Steps, and lets everything that follows happen. */
  async step(ms = 0): Promise<void> {
    this.clock.step(ms);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
}

describe("a certificate", () => {
  test("is requested when there is none, and renewed within 70 to 90 % of its life", async () => {
    const kit = new Kit();
    await kit.step();
    assert.deepEqual(kit.kept, ["pem 1"]);
    await kit.step(79 * DAY);
    assert.equal(kit.kept.length, 1);
    await kit.step(2 * DAY);
    assert.deepEqual(kit.kept, ["pem 1", "pem 2"]);
    assert.deepEqual(kit.rotations, [undefined, (81 * DAY) / 1000]);
    await kit.manager.stop();
    assert.equal(kit.clock.pending, 0);
  });

  test("that is there is used until it is due", async () => {
    const kit = new Kit(certificate());
    await kit.step(79 * DAY);
    assert.equal(kit.signed, 0);
    await kit.step(1.1 * DAY);
    assert.equal(kit.signed, 1);
    await kit.manager.stop();
  });

  test("that is due as soon as it is made is not renewed in a busy loop", async () => {
    const kit = new Kit();
    kit.age = 95 * DAY;
    for (let second = 0; second < 60; second++) await kit.step(1000);
    assert.ok(kit.signed >= 2 && kit.signed <= 13, `${kit.signed} in a minute`);
    await kit.manager.stop();
    assert.equal(kit.clock.pending, 0);
  });

  test("is renewed within a minute when the clock jumps past its time, and not again when it jumps back", async () => {
    const kit = new Kit(certificate());
    await kit.step(1000);
    kit.clock.jump(85 * DAY);
    await kit.step(60_000);
    assert.equal(kit.signed, 1);
    kit.clock.jump(-84 * DAY);
    await kit.step(60_000);
    await kit.step(DAY);
    assert.equal(kit.signed, 1);
    await kit.manager.stop();
  });

  test("is requested again when the node has another address", async () => {
    const kit = new Kit(certificate({ ips: ["10.0.0.1"] }));
    kit.subject = { ...NODE, ips: ["10.0.0.1"] };
    await kit.step();
    assert.equal(kit.signed, 0);
    kit.subject = { ...NODE, ips: ["10.0.0.2"] };
    kit.manager.checkNow();
    await kit.step();
    assert.equal(kit.signed, 1);
    await kit.manager.stop();
  });

  test("waits until its subject is known", async () => {
    const kit = new Kit();
    kit.subject = undefined;
    await kit.step(3600_000);
    assert.equal(kit.signed, 0);
    kit.subject = NODE;
    kit.manager.checkNow();
    await kit.step();
    assert.equal(kit.signed, 1);
    await kit.manager.stop();
  });

  test("that is refused is requested again with growing delays, and the current one stays in use", async () => {
    const kit = new Kit(certificate());
    kit.refuse = true;
    await kit.step(81 * DAY);
    const counts: number[] = [];
    for (const seconds of [3, 5, 9, 17, 34, 34]) {
      await kit.step(seconds * 1000);
      counts.push(kit.signed);
    }
    assert.deepEqual(counts, [2, 3, 4, 5, 6, 7]);
    assert.equal(kit.failures, 7);
    assert.equal(kit.manager.certificate?.notAfter, 100 * DAY);
    kit.refuse = false;
    await kit.step(36_000);
    assert.equal(kit.kept.length, 1);
    await kit.manager.stop();
  });
});

test("a server counts as responding after any response to the last request", async () => {
  const kit = new Kit(certificate());
  await kit.step();
  assert.equal(kit.manager.serverAnswers, false);
  kit.refuse = new ApiConnectionError("connect ECONNREFUSED");
  await kit.step(81 * DAY);
  const rows: [boolean | Error, boolean][] = [
    [new ApiError(401, "Unauthorized", "no"), true],
    [new ApiConnectionError("connect ECONNREFUSED"), false],
    [new ApiError(403, "Forbidden", "no"), true],
    [true, true],
    [new ApiError(503, "ServiceUnavailable", "no"), false],
    [true, false],
    [false, true],
  ];
  for (const [refuse, answers] of rows) {
    kit.refuse = refuse;
    await kit.step(36_000);
    assert.equal(kit.manager.serverAnswers, answers, String(refuse));
  }
  await kit.manager.stop();
});

test("the time of rotation lies between 70 and 90 % of the life", () => {
  const held = certificate({ notBefore: 1000, notAfter: 2000 });
  assert.equal(rotationTime(held, 0), 1700);
  assert.equal(rotationTime(held, 1), 1900);
});

test("a certificate serves when it carries all that is wanted", () => {
  const held = certificate({ dnsNames: ["n1", "n1.local"], ips: ["10.0.0.1", "FD00:0:0:0:0:0:0:1"] });
  const rows: [Partial<CertificateSubject>, boolean][] = [
    [{}, true],
    [{ dnsNames: ["n1"] }, true],
    [{ dnsNames: ["n2"] }, false],
    [{ ips: ["10.0.0.1", "fd00::1"] }, true],
    [{ ips: ["10.0.0.2"] }, false],
    [{ commonName: "system:node:n2" }, false],
    [{ organizations: ["system:masters"] }, false],
  ];
  for (const [subject, expected] of rows) assert.equal(serves(held, { ...NODE, ...subject }), expected);
});
