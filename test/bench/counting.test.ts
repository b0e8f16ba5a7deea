import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CountingRuntime } from "../../bench/lib/counting-runtime.js";
import { byKind, parseCounts } from "../../bench/lib/system-calls.js";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { createCriClient, type CriClient } from "../../src/shared/kubernetes/cri/client.js";
import { startFakeCri } from "../fake-cri/fake-cri.js";

describe("the counting proxy before a runtime", () => {
  let directory: string;
  let runtime: Awaited<ReturnType<typeof startFakeCri>>;
  let proxy: CountingRuntime;
  let cri: CriClient;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "counting-"));
    runtime = await startFakeCri({ socketPath: join(directory, "cri.sock"), images: ["busybox:1"] });
    proxy = await CountingRuntime.start(join(directory, "proxy.sock"), `unix://${join(directory, "cri.sock")}`);
    const endpoint = `unix://${join(directory, "proxy.sock")}`;
    cri = createCriClient({ endpoint, runtimeRequestTimeoutMs: 10_000, clock: systemClock });
  });

  after(async () => {
    cri.close();
    proxy.stop();
    await runtime.stop();
    await rm(directory, { recursive: true });
  });

  it("forwards responses and counts calls by verb", async () => {
    const { image } = await cri.imageStatus({ image: { image: "busybox:1" } });
    assert.notEqual(image, undefined);
    await cri.listPodSandbox({});
    await cri.listPodSandbox({});
    assert.equal(proxy.calls.get("ImageStatus"), 1);
    assert.equal(proxy.calls.get("ListPodSandbox"), 2);
  });

  it("the proxy passes errors on to the client", async () => {
    await assert.rejects(cri.podSandboxStatus({ podSandboxId: "absent", verbose: false }), /not found/i);
    assert.equal(proxy.calls.get("PodSandboxStatus"), 1);
  });
});

describe("the table of strace", () => {
  const text = `    calls syscall
--------- ----------------
       12 openat
        3 statx
        1 fsync
        4 getpid
--------- ----------------
       20 total
`;

  it("is read without its head and its total", () => {
    assert.deepEqual(
      [...parseCounts(text)],
      [
        ["openat", 12],
        ["statx", 3],
        ["fsync", 1],
        ["getpid", 4],
      ],
    );
  });

  it("is put together by kind; other system calls are left out", () => {
    const kinds = byKind(parseCounts(text));
    assert.equal(kinds.get("files opened"), 12);
    assert.equal(kinds.get("files looked up"), 3);
    assert.equal(kinds.get("syncs to disk"), 1);
    assert.equal(kinds.get("mounts"), 0);
    assert.equal(
      [...kinds.values()].reduce((sum, count) => sum + count, 0),
      16,
    );
  });
});
