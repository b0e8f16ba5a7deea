// The machine's memory runs out nowhere in these tests: the kernel's words of such a kill, as it once said them, go all the way
// from its log to the node's event.
import assert from "node:assert/strict";
import { test } from "node:test";
import { reportOom } from "../../../src/main/eviction/oom.js";
import type { EventRecorder } from "../../../src/main/model/event-recorder.js";
import { evictionRecordCodec } from "../../../src/shared/contracts/eviction-codec.js";
import { OomWatcher } from "../../../src/workers/eviction/oom/watcher.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { ModelKernelLog } from "../../workers/eviction/oom/model-kernel-log.js";

const RECORDED = [
  "4,1042,81530211,-;stress invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0\n",
  "6,1077,81530290,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/x\\x5cx2dy.service,task=stress,pid=833,uid=0\n",
  "3,1078,81530301,-;Out of memory: Killed process 833 (stress) total-vm:1052492kB, anon-rss:1012340kB, file-rss:256kB, shmem-rss:0kB, UID:0 pgtables:2052kB oom_score_adj:0\n",
];

test("a kill for the machine's memory, from the kernel's log to the node's event", () => {
  const kernelLog = new ModelKernelLog();
  const kept = keptLog();
  const events: unknown[] = [];
  const watcher = new OomWatcher({
    open: () => kernelLog,
    counters: { look: () => [] },
    known: () => false,
    publish: (record): void => {
      const decoded = evictionRecordCodec.decode(evictionRecordCodec.encode(record));
      assert.equal(decoded.kind, "oom");
      const node: EventRecorder["node"] = (event) => void events.push(event);
      reportOom({ pod: () => undefined, observed: () => undefined, events: { node }, log: kept.log }, decoded);
    },
    clock: new SteppedClock(),
    log: kept.log,
  });
  watcher.look();
  for (const record of RECORDED) kernelLog.put(record);
  watcher.look();
  const message = "System OOM encountered, victim process: stress, pid: 833";
  assert.deepEqual(events, [{ type: "Warning", reason: "SystemOOM", message }]);
  assert.deepEqual(kept.warnings(), ["the kernel killed process stress (pid 833): the machine is out of memory"]);
});
