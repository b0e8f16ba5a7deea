// An error in a handler of a connection's event ends that connection only.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { HandlerError, ownedBy } from "../../../../src/workers/server/clients/owned.js";

class Connection {
  readonly ends: (Error | undefined)[] = [];
  destroy(error?: Error): void {
    this.ends.push(error);
  }
}

test("an error that a handler throws, at once or later, destroys the connection with its cause", async () => {
  const connection = new Connection();
  const defect = new Error("defect");
  ownedBy(connection, () => {
    throw defect;
  })();
  ownedBy(connection, () => Promise.reject(defect))();
  await Promise.resolve();
  await Promise.resolve();
  deepEqual(
    connection.ends.map((error) => error?.cause),
    [defect, defect],
  );
  ok(connection.ends[0] instanceof HandlerError);
});

test("a handler that succeeds gets its arguments, and the connection stays open", () => {
  const connection = new Connection();
  let sum = 0;
  ownedBy(connection, (a: number, b: number) => void (sum = a + b))(1, 2);
  equal(sum, 3);
  const resume: () => void = () => ({ paused: false });
  ownedBy(connection, resume)();
  equal(connection.ends.length, 0);
});
