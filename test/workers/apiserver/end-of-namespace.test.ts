// A namespace that is deleted with many pods: their number decides how often the store is read, and nothing more.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed } from "../../../src/workers/apiserver/objects/resources.js";
import { Tables } from "../../../src/workers/apiserver/store/tables.js";
import { Transaction } from "../../../src/workers/apiserver/store/transaction.js";
import { deleteObject } from "../../../src/workers/apiserver/verbs/delete.js";
import type { WriteContext } from "../../../src/workers/apiserver/world.js";

const PODS = resourceNamed("pods");
const NAMESPACES = resourceNamed("namespaces");
const WORLD = { clock: systemClock, nodeName: "node-1", volumesDir: "/nonexistent" };

const contextOf = (tx: Transaction): WriteContext => ({
  ...{ world: WORLD, tx, user: { name: "admin", groups: [] } },
  ...{ dryRun: false, unknownFields: "Warn", warnings: [] },
});

/** A store that counts how often all objects of a resource are read. */
class CountedTables extends Tables {
  reads = 0;

  override entries(...given: Parameters<Tables["entries"]>): ReturnType<Tables["entries"]> {
    this.reads++;
    return super.entries(...given);
  }
  override keys(...given: Parameters<Tables["keys"]>): ReturnType<Tables["keys"]> {
    this.reads++;
    return super.keys(...given);
  }
}

function fill(tables: Tables, count: number): void {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "old" } } as ApiObject;
  tables.set(NAMESPACES, "old", namespace, 1);
  for (let number = 0; number < count; number++) {
    const metadata = { name: `p${number}`, namespace: "old" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [] }, status: { phase: "Failed" } };
    tables.set(PODS, `old/p${number}`, pod, 1);
  }
}

function deleteNamespace(count: number): { reads: number; tx: Transaction } {
  const tables = new CountedTables();
  fill(tables, count);
  const tx = new Transaction(tables, 1);
  deleteObject({ resource: NAMESPACES, namespace: "", name: "old" }, {}, contextOf(tx));
  return { reads: tables.reads, tx };
}

test("the namespace and its ended pods go in one change, which reads each resource once", () => {
  const { reads, tx } = deleteNamespace(300);
  deepEqual([...tx.keys(PODS)], []);
  equal(tx.get(NAMESPACES, "old"), undefined);
  equal(reads, deleteNamespace(3).reads);
});

test("a namespace whose last pod goes by itself goes with it", () => {
  const tables = new CountedTables();
  fill(tables, 2);
  const running = { ...tables.get(PODS, "old/p0"), status: { phase: "Running" } };
  tables.set(
    PODS,
    "old/p0",
    { ...running, spec: { containers: [], terminationGracePeriodSeconds: 30 } } as ApiObject,
    1,
  );
  const tx = new Transaction(tables, 1);
  const context = contextOf(tx);
  deleteObject({ resource: NAMESPACES, namespace: "", name: "old" }, {}, context);
  deepEqual([...tx.keys(PODS)], ["old/p0"]);
  deleteObject({ resource: PODS, namespace: "old", name: "p0" }, { gracePeriodSeconds: 0 }, context);
  equal(tx.get(NAMESPACES, "old"), undefined);
});
