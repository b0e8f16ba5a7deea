// The rules of which configuration a start takes, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chooseConfiguration,
  type Choice,
  type ChoiceInput,
  type Known,
} from "../../../../src/main/process/dynamic-config/decide.js";

const MAX_TRIAL_STARTS = 3;
const A = "a".repeat(64);
const B = "b".repeat(64);
const C = "c".repeat(64);
const since = "2026-01-01T00:00:00.000Z";
const at = (digest: string): { digest: string; since: string } => ({ digest, since });
const bad = (digest: string): { digest: string; since: string; reason: string } => ({
  ...at(digest),
  reason: "failed: x",
});
const settled: Known = { assigned: at(A), current: at(A), lastKnownGood: at(A), bad: [] };

interface Case {
  name: string;
  known?: Known;
  offered: string | undefined;
  /** The node's own files, where the cluster assigns others. */
  local?: string;
  whole?: string[];
  refused?: string[];
  want: Partial<Omit<Choice, "error" | "trial">> & { starts?: number };
  error?: RegExp;
}

const CASES: Case[] = [
  { name: "first start", offered: A, want: { active: A, assigned: A, starts: 1 } },
  {
    name: "first start, refused",
    offered: A,
    refused: [A],
    want: { active: undefined },
    error: /aaaaaaaaaaaa is not valid/,
  },
  {
    name: "first start, unreadable",
    offered: undefined,
    want: { active: undefined, assigned: undefined },
    error: /cannot be read/,
  },
  { name: "unchanged", known: settled, offered: A, want: { active: A, assigned: A } },
  { name: "new", known: settled, offered: B, want: { active: B, assigned: B, starts: 1 } },
  {
    name: "new, refused: the old stays",
    known: settled,
    offered: B,
    refused: [B],
    want: { active: A, assigned: A },
    error: /bbbbbbbbbbbb is not valid: report/,
  },
  {
    name: "source unreadable: the old stays",
    known: settled,
    offered: undefined,
    want: { active: A, assigned: A },
    error: /cannot be read/,
  },
  {
    name: "on trial, again",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: MAX_TRIAL_STARTS - 1 } },
    offered: B,
    want: { active: B, starts: MAX_TRIAL_STARTS },
  },
  {
    name: "on trial, once too often",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: MAX_TRIAL_STARTS } },
    offered: B,
    want: {
      active: A,
      assigned: B,
      markBad: { digest: B, reason: `was started ${MAX_TRIAL_STARTS} times and never passed its trial` },
    },
    error: /started 3 times .* back to the last known good one, aaaaaaaaaaaa/,
  },
  {
    name: "on trial, a start failed",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: 1, failure: "no port" } },
    offered: B,
    want: { active: A, markBad: { digest: B, reason: "failed: no port" } },
    error: /failed: no port/,
  },
  {
    name: "another one's trial does not count",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: 9, failure: "x" } },
    offered: C,
    want: { active: C, assigned: C, starts: 1 },
  },
  {
    name: "the cluster's, failing, nothing proven: the node's own files, on trial",
    known: { assigned: at(B), current: at(B), trial: { ...at(B), starts: 1, failure: "x" }, bad: [] },
    offered: B,
    local: A,
    want: { active: A, assigned: B, starts: 1, markBad: { digest: B, reason: "failed: x" } },
    error: /failed: x; back to the node's own files, aaaaaaaaaaaa/,
  },
  {
    name: "the cluster's, failing, with a proven one: that one, not the node's own files",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: 1, failure: "x" } },
    offered: B,
    local: C,
    want: { active: A, assigned: B },
    error: /back to the last known good one, aaaaaaaaaaaa/,
  },
  {
    name: "the cluster's, failing, and the node's own files are refused",
    known: { assigned: at(B), current: at(B), trial: { ...at(B), starts: 1, failure: "x" }, bad: [] },
    offered: B,
    local: A,
    refused: [A],
    want: { active: B, starts: 2, markBad: undefined },
    error: /no earlier one/,
  },
  {
    name: "the cluster's, rolled back: the node's own files continue their trial",
    known: { assigned: at(B), current: at(A), trial: { ...at(A), starts: 1 }, bad: [bad(B)] },
    offered: B,
    local: A,
    want: { active: A, assigned: B, starts: 2 },
    error: /bbbbbbbbbbbb is refused since/,
  },
  {
    name: "the cluster's cannot be read and nothing is known: the node's own files, on trial",
    known: { assigned: at(B), bad: [] },
    offered: undefined,
    // The node's own files were just read.
    whole: [A],
    local: A,
    want: { active: A, assigned: B, starts: 1 },
    error: /cannot be read/,
  },
  {
    name: "on trial, failing, nothing to go back to",
    known: { assigned: at(B), trial: { ...at(B), starts: 7 }, bad: [] },
    offered: B,
    want: { active: B, starts: 8, markBad: undefined },
    error: /no earlier one/,
  },
  {
    name: "on trial, failing, the last known good one is gone",
    known: { ...settled, assigned: at(B), current: at(B), trial: { ...at(B), starts: 3 } },
    offered: B,
    whole: [],
    want: { active: B, starts: 4, markBad: undefined },
    error: /no earlier one/,
  },
  {
    name: "on trial, failing, the last known good one is refused by this kubelet",
    known: { ...settled, assigned: at(B), trial: { ...at(B), starts: 3 } },
    offered: B,
    refused: [A],
    want: { active: B, markBad: undefined, starts: 4 },
    error: /no earlier one/,
  },
  {
    name: "bad, offered again",
    known: { ...settled, assigned: at(B), bad: [bad(B)] },
    offered: B,
    want: { active: A, assigned: B, markBad: undefined },
    error: /bbbbbbbbbbbb is refused since .*failed: x; change it/,
  },
  {
    name: "bad, offered while a third is on trial",
    known: { ...settled, assigned: at(C), current: at(C), trial: { ...at(C), starts: 1 }, bad: [bad(B)] },
    offered: B,
    want: { active: C, assigned: C, starts: 2 },
    error: /bbbbbbbbbbbb is refused/,
  },
  {
    name: "bad, then changed",
    known: { ...settled, assigned: at(B), bad: [bad(B)] },
    offered: C,
    want: { active: C, assigned: C, starts: 1 },
  },
  {
    name: "bad, then changed back to what is good",
    known: { ...settled, assigned: at(B), bad: [bad(B)] },
    offered: A,
    want: { active: A, assigned: A },
  },
  { name: "no good one known", known: { assigned: at(A), bad: [] }, offered: B, want: { active: B, starts: 1 } },
  {
    name: "the running checkpoint is gone: the last known good one",
    known: { ...settled, assigned: at(B), current: at(B) },
    offered: undefined,
    whole: [A],
    want: { active: A, assigned: B },
    error: /cannot be read/,
  },
  {
    name: "all checkpoints gone, source unreadable: the files as they are",
    known: settled,
    offered: undefined,
    whole: [],
    want: { active: undefined, assigned: A },
    error: /cannot be read/,
  },
  {
    name: "all checkpoints gone: what is offered",
    known: settled,
    offered: A,
    whole: [],
    want: { active: A, assigned: A },
  },
  {
    name: "assigned but never run, then a refused one: what ran stays",
    known: { ...settled, assigned: at(B) },
    offered: C,
    refused: [C],
    want: { active: A },
    error: /cccccccccccc is not valid/,
  },
  {
    name: "trial elapsed",
    known: {
      ...settled,
      assigned: at(B),
      current: at(B),
      lastKnownGood: at(B),
      trial: { ...at(B), starts: 3, failure: "late" },
    },
    offered: B,
    want: { active: B, markBad: undefined },
  },
];

for (const { name, known, offered, local, whole, refused, want, error } of CASES) {
  test(`start: ${name}`, () => {
    const input: ChoiceInput = {
      known: known ?? { bad: [] },
      offered: offered === undefined ? { error: "/etc/x cannot be read: gone" } : { digest: offered },
      local,
      whole: new Set(whole ?? (known === undefined ? [] : [A, B, C])),
      refused: new Map((refused ?? []).map((digest) => [digest, "report"])),
    };
    const { starts, ...rest } = want;
    const choice = chooseConfiguration(input);
    for (const [member, value] of Object.entries(rest)) {
      assert.deepEqual(choice[member as keyof Choice], value, member);
    }
    assert.deepEqual(choice.trial, starts === undefined ? undefined : { digest: choice.active, starts });
    if (error === undefined) assert.equal(choice.error, undefined);
    else assert.match(choice.error ?? "", error);
  });
}
