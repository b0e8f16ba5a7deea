// An error as one text: its causes are appended unless they repeat what was said.

import { equal } from "node:assert/strict";
import { test } from "node:test";
import { plainDetails } from "../../../../src/shared/base/errors/grpc-details.js";
import { errorText } from "../../../../src/shared/telemetry/log/error-text.js";

/** As grpc-js throws it. */
function serviceError(details: string): Error {
  return Object.assign(new Error(`2 UNKNOWN: ${details}`), { code: 2, details });
}

test("a cause that repeats the message in gRPC's words is left out", () => {
  const cri = new Error("CRI StartContainer of container 3f failed at unix:///s: UNKNOWN: no such image", {
    cause: serviceError("no such image"),
  });
  equal(errorText(cri), cri.message);
  equal(errorText(new Error("no such image", { cause: cri })), "no such image");
  equal(errorText(serviceError("no such image")), "no such image");
});

test("a cause that says more is appended", () => {
  equal(errorText(new Error("cannot start", { cause: new Error("no such image") })), "cannot start: no such image");
  equal(errorText(new Error("cannot start", { cause: serviceError("no such image") })), "cannot start: no such image");
});

test("an error with details of its own keeps its message", () => {
  equal(errorText(Object.assign(new Error("call failed: x"), { code: 2, details: "x" })), "call failed: x");
});

test("a late call loses the stages that grpc-js lists", () => {
  const late = "Deadline exceeded after 2.001s";
  equal(plainDetails(`${late},LB pick: 0.001s,remote_addr=unix:/run/c.sock`), late);
  equal(plainDetails(`${late},Waiting for LB pick`), late);
  equal(plainDetails(late), late);
});
