// The next action for a credential, by its state and the time.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lateness,
  mustAsk,
  pendingRequest,
  stateName,
  verdictOf,
  type CredentialState,
} from "../../../../src/main/cluster/pod-certificates/credential-state.js";
import type { PodCertificateRequest } from "../../../../src/shared/kubernetes/api/objects.js";

const MINUTE = 60_000;
const pending = pendingRequest("ns/req-1", "KEY", 0, 0.5);
const held = { key: "OLD", chain: "C", refreshAt: 100 * MINUTE, notAfter: 120 * MINUTE };
const refused: CredentialState = { phase: "refused", how: "Denied", reason: "No", message: "never" };

test("by the time: requested, overdue, expired", () => {
  const rows: [state: CredentialState, minutes: number, ask: boolean, name: string][] = [
    [{ phase: "none" }, 0, true, "not_yet_issued"],
    [{ phase: "none", pending }, 12.5, false, "not_yet_issued"],
    [{ phase: "none", pending }, 12.6, true, "not_yet_issued"],
    [{ phase: "held", held }, 99.9, false, "fresh"],
    [{ phase: "held", held }, 100, true, "fresh"],
    [{ phase: "held", held }, 110.1, true, "overdue_for_refresh"],
    [{ phase: "held", held, pending: { ...pending, abandonAt: 115 * MINUTE } }, 114, false, "overdue_for_refresh"],
    [{ phase: "held", held, pending: { ...pending, abandonAt: 115 * MINUTE } }, 116, true, "overdue_for_refresh"],
    [{ phase: "held", held }, 120.1, true, "expired"],
    [refused, 500, false, "denied"],
    [{ ...refused, how: "Failed" }, 500, false, "failed"],
  ];
  for (const [state, minutes, ask, name] of rows) {
    const now = minutes * MINUTE;
    assert.deepEqual([mustAsk(state, now), stateName(state, now)], [ask, name], `${state.phase} at ${minutes} min`);
  }
  assert.deepEqual(lateness({ phase: "held", held }, 121 * MINUTE), { overdue: true, expired: true });
  assert.deepEqual(lateness(refused, 121 * MINUTE), { overdue: false, expired: false });
});

test("the signer's word: issued cleaned and with its times, the others with their reasons, silence none", () => {
  const say = (status?: PodCertificateRequest["status"]) =>
    verdictOf(pending, { metadata: {}, spec: {} as never, ...(status !== undefined && { status }) }, 0.5);
  const cert = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
  const at = { beginRefreshAt: "1970-01-01T01:00:00Z", notAfter: "1970-01-01T02:00:00Z" };
  const issued = [{ type: "Issued", status: "True" }];
  const dirty = `notes\n${cert("Proc-Type: 4\n\nQkJC\nQkJC")}more\n${cert("QUFB")}end`;
  assert.deepEqual(say({ conditions: issued, certificateChain: dirty, ...at }), {
    phase: "held",
    held: { key: "KEY", chain: cert("QkJCQkJC") + cert("QUFB"), refreshAt: 62.5 * MINUTE, notAfter: 120 * MINUTE },
  });
  assert.deepEqual(say({ conditions: [{ type: "Denied", status: "True", reason: "No", message: "never" }] }), refused);
  assert.deepEqual(say({ conditions: [{ type: "Failed", status: "True" }] }), {
    phase: "refused",
    how: "Failed",
    reason: "",
    message: "",
  });
  for (const broken of [{ certificateChain: dirty }, at, { ...at, certificateChain: "no certificate" }]) {
    const verdict = say({ conditions: issued, ...broken });
    assert.ok(verdict?.phase === "refused" && verdict.reason === "Incomplete", JSON.stringify(broken));
  }
  assert.deepEqual([say(), say({}), say({ conditions: [] })], [undefined, undefined, undefined]);
});
