// The range that pods' ids come from: what getsubids says, and every way in which it can be of no use.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podIdRange, type CommandAnswer } from "../../../../src/main/containers/user-namespaces/id-range.js";
import { UserNamespaceError } from "../../../../src/main/containers/user-namespaces/user-namespace-error.js";

const UNIT = 65_536;
const printing = (stdout: string): CommandAnswer => ({ status: 0, stdout, stderr: "" });
const fails = (status: number, stderr = ""): CommandAnswer => ({ status, stdout: "", stderr });
const line = (first: number, length: number): CommandAnswer => printing(`0: kubelet ${first} ${length}\n`);

interface Answers {
  user?: CommandAnswer;
  uids?: CommandAnswer;
  gids?: CommandAnswer;
}

const rangeOf = (answers: Answers, idsPerPod = UNIT, maxPods = 110) =>
  podIdRange(
    (program, args) =>
      Promise.resolve(program === "getent" ? answers.user : args.includes("-g") ? answers.gids : answers.uids),
    idsPerPod,
    maxPods,
  );

const user = printing("kubelet:x:999:999::/:/bin/false\n");

test("without a user of that name, or without getsubids, pods have all ids but the node's own", async () => {
  const given = line(UNIT, 110 * UNIT);
  for (const answers of [{}, { user: fails(2), uids: given, gids: given }, { user }]) {
    const { first, length } = await rangeOf(answers);
    assert.equal(first, UNIT);
    assert.equal(length % UNIT, 0);
    assert.ok(first + length < 2 ** 32, "the highest id means none");
    assert.ok(first + length > 2 ** 32 - 2 * UNIT - 1);
  }
});

test("more ids for each pod move the first one up", async () => {
  const { first, length } = await rangeOf({}, 4 * UNIT);
  assert.equal(first, 4 * UNIT);
  assert.equal(length % (4 * UNIT), 0);
  assert.ok(first + length < 2 ** 32);
});

test("the user's own range is taken", async () => {
  const given = line(2 * UNIT, 200 * UNIT);
  assert.deepEqual(await rangeOf({ user, uids: given, gids: given }), { first: 2 * UNIT, length: 200 * UNIT });
});

test("an unusable range is refused with its remedy", async () => {
  const good = line(UNIT, 110 * UNIT);
  const both = (answer: CommandAnswer): Answers => ({ user, uids: answer, gids: answer });
  const cases: [Answers, RegExp][] = [
    [both(fails(1, "Error fetching ranges")), /getsubids kubelet failed: Error fetching ranges; give the user a range/],
    [both(printing("")), /failed: status 0/],
    [both(printing("nonsense\n")), /gave "nonsense": exactly one range/],
    [both(printing(`${good.stdout}1: kubelet 99999999 65536\n`)), /exactly one range/],
    [
      { user, uids: good, gids: line(2 * UNIT, 110 * UNIT) },
      /\/etc\/subuid \(65536:7208960\).*\/etc\/subgid \(131072:7208960\)/,
    ],
    [both(line(100_000, 110 * UNIT)), /first id must be a multiple of 65536/],
    [both(line(0, 110 * UNIT)), /first id must be 65536 at least/],
    [both(line(UNIT, 110 * UNIT + 1)), /length must be a multiple/],
    [both(line(UNIT, 109 * UNIT)), /too short for 110 pods/],
    [both(line(UNIT, 2 ** 32 - UNIT)), /must end below 4294967295/],
  ];
  for (const [answers, message] of cases) {
    await assert.rejects(rangeOf(answers), (error) => {
      assert.ok(error instanceof UserNamespaceError, String(error));
      assert.match(error.message, message);
      return true;
    });
  }
});
