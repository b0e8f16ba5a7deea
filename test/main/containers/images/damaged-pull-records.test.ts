// A pull record or intent that can't be read or written makes its image one that needs proof, never a preloaded one.
// @promise Images and logs: An image needs proof again if its pull record or intent is damaged, or cannot be read or
//   written.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CredentialSource } from "../../../../src/main/containers/images/credentials.js";
import { pullRecordMetrics } from "../../../../src/main/containers/images/pull-records/metrics.js";
import {
  intentText,
  readRecord,
  recordName,
  recordText,
} from "../../../../src/main/containers/images/pull-records/record.js";
import { RecordedAccess } from "../../../../src/main/containers/images/pull-records/recorded-access.js";
import { verificationPolicy } from "../../../../src/main/containers/images/pull-records/verification-policy.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pair } from "../../../shared/kubernetes/cri/support.js";
import { UNREADABLE, type Damage as FileDamage } from "../../../support/damaged-file.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const IMAGE = "a:1";
const TIME = "2026-01-01T00:00:00Z";
const OWN: CredentialSource = { kind: "secret", uid: "u", namespace: "default", name: "pull", credentialHash: "hash" };
const none = (): Promise<CredentialSource[]> => Promise.resolve([]);
const own = (): Promise<CredentialSource[]> => Promise.resolve([OWN]);

const folderInItsPlace = Symbol("folder");
type Damage = string | typeof folderInItsPlace | FileDamage;

async function world(t: TestContext) {
  const { fake, client: cri } = await pair(t);
  const root = await temporaryFolder(t);
  const kept = keptLog();
  const agent = () =>
    new RecordedAccess({
      rootDir: root,
      needsProof: verificationPolicy("NeverVerifyPreloadedImages", []),
      recordsInMemory: 10,
      cri,
      clock: new SteppedClock(),
      log: kept.log,
      metrics: pullRecordMetrics(new ThreadRegistry("main")),
    });
  fake.addImage(IMAGE);
  const ref = fake.state.image(IMAGE)?.id ?? "";
  const path = (kind: "pulling" | "pulled", of: string) => join(root, "image_manager", kind, recordName(of));
  const put = async (file: string, damage: Damage): Promise<void> => {
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true });
    if (damage === folderInItsPlace) await mkdir(file);
    else if (typeof damage === "function") await damage(file);
    else await writeFile(file, damage);
  };
  return { agent, fake, ref, path, put, kept };
}

/** Kinds of unusable files; `good` is the valid file. */
function damages(good: string): [what: string, damage: Damage][] {
  return [
    ["empty", ""],
    ["truncated", good.slice(0, good.length / 2)],
    ["garbage", "\u0000\u0001garbage"],
    ["of an unknown version", good.replace("v1beta1", "v9")],
    ["of another kind", good.replace(/"kind":"\w+"/, '"kind":"Other"')],
    ["unreadable", folderInItsPlace],
    ...Object.entries(UNREADABLE),
  ];
}

test("an image whose record is damaged needs proof until it is proven", async (t) => {
  const mapping = { a: { nodePodsAccessible: true } };
  const { ref } = await world(t);
  const good = recordText({ imageRef: ref, lastUpdatedTime: TIME, credentialMapping: mapping });
  const another = recordText({ imageRef: "sha256:other", lastUpdatedTime: TIME, credentialMapping: mapping });
  const cases = [...damages(good), ["of another image", another] as const];
  for (const [what, damage] of cases) {
    const { agent, path, put } = await world(t);
    await put(path("pulled", ref), damage);
    for (const life of ["first", "second"]) {
      const access = agent();
      assert.equal(await access.mustProve(IMAGE, ref, none), true, `${what}, ${life} agent`);
      assert.equal(await access.mustProve(IMAGE, ref, own), true, `${what}, ${life} agent, with credentials`);
    }
    const access = agent();
    await access.pulling(IMAGE);
    await access.pulled(IMAGE, ref, OWN);
    assert.equal(await access.mustProve(IMAGE, ref, none), true, `${what}, pulled with a secret`);
    // An unreadable record is not replaced: each pod proves its credentials again.
    if (damage === folderInItsPlace || typeof damage === "function") continue;
    assert.equal(await access.mustProve(IMAGE, ref, own), false, `${what}, proven`);
    assert.deepEqual(Object.keys(readRecord(await readFile(path("pulled", ref), "utf8")).credentialMapping), ["a"]);
  }
});

test("an image whose intent is damaged needs proof, and a failed pull does not change that", async (t) => {
  for (const [what, damage] of damages(intentText({ image: IMAGE }))) {
    const { agent, path, put, ref } = await world(t);
    await put(path("pulling", IMAGE), damage);
    const access = agent();
    assert.equal(await access.mustProve(IMAGE, ref, none), true, what);
    if (damage === folderInItsPlace) {
      await assert.rejects(access.pulling(IMAGE), what);
    } else {
      await access.pulling(IMAGE);
      await access.failed(IMAGE);
    }
    assert.equal(await access.mustProve(IMAGE, ref, none), true, `${what}, after a pull that failed`);
    assert.equal(await agent().mustProve(IMAGE, ref, none), true, `${what}, next agent`);
  }
});

test("an image whose record can't be written needs proof, in this kubelet and in the next", async (t) => {
  const { agent, path, put, ref, kept } = await world(t);
  const access = agent();
  await access.pulling(IMAGE);
  await put(path("pulled", ref), folderInItsPlace);
  await access.pulled(IMAGE, ref, undefined);
  assert.match(kept.errors()[0] ?? "", /cannot write the pull record of image "a:1"/);
  await rm(path("pulled", ref), { recursive: true });
  assert.equal(await access.mustProve(IMAGE, ref, none), true, "there is no record, but an intent");
  assert.equal(await access.mustProve("b:1", ref, none), true, "the same image by another name");
  await access.pulling(IMAGE);
  await access.failed(IMAGE);
  assert.equal(await access.mustProve(IMAGE, ref, none), true, "a pull that fails proves nothing");
  assert.equal(await agent().mustProve(IMAGE, ref, none), true, "next agent");
  await access.pulling(IMAGE);
  await access.pulled(IMAGE, ref, OWN);
  assert.equal(await access.mustProve(IMAGE, ref, own), false);
  assert.deepEqual(await readdir(dirname(path("pulling", IMAGE))), [], "the record makes the intent superfluous");
});

test("of two pulls at once, one that fails does not take the intent of one whose record can't be written", async (t) => {
  const { agent, path, put, ref } = await world(t);
  const access = agent();
  await access.pulling(IMAGE);
  await access.pulling(IMAGE);
  await put(path("pulled", ref), folderInItsPlace);
  await access.pulled(IMAGE, ref, OWN);
  await access.failed(IMAGE);
  await rm(path("pulled", ref), { recursive: true });
  assert.equal(await agent().mustProve(IMAGE, ref, none), true);
});

test("an intent whose record can't be written stays, and other images are judged as ever", async (t) => {
  const { agent, path, put, ref, fake } = await world(t);
  fake.addImage("preloaded:1");
  await agent().pulling(IMAGE);
  // A folder of that name makes every write of the record fail, as a full disk does.
  await put(path("pulled", ref), folderInItsPlace);
  const next = agent();
  assert.equal(await next.mustProve("preloaded:1", fake.state.image("preloaded:1")?.id ?? "", none), false);
  assert.equal(await next.mustProve(IMAGE, ref, none), true);
});

test("a damaged record is removed after its image", async (t) => {
  const { agent, path, put, ref } = await world(t);
  await put(path("pulled", ref), "garbage");
  await put(path("pulled", "sha256:gone"), "garbage");
  assert.equal(await agent().mustProve(IMAGE, ref, none), true);
  assert.deepEqual(await readdir(dirname(path("pulled", ref))), [recordName(ref)]);
});
