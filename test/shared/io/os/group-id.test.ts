import { equal, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { groupId } from "../../../../src/shared/io/os/group-id.js";

test("a group is found by name or number, and an unknown name is refused", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "group-id-"));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, "group");
  await writeFile(file, "root:x:0:\nops:x:77:a,b\nodd:x:7x:\n");
  equal(await groupId("ops", file), 77);
  equal(await groupId("root", file), 0);
  equal(await groupId("12", file), 12);
  await rejects(groupId("nobodys", file), /the group "nobodys" is not in/);
  await rejects(groupId("odd", file), /the group "odd" is not in/);
});
