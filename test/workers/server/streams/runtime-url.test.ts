// Addresses of streams that a runtime, or one that lies, gives for exec, attach and port-forward.

import { equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { runtimeUrl } from "../../../../src/workers/server/streams/runtime-url.js";

test("an address on the machine's loopback is taken as it is", () => {
  for (const text of [
    "http://127.0.0.1:40123/exec/token",
    "http://[::1]:1/attach/x",
    "http://localhost:1/portforward/x",
  ]) {
    equal(runtimeUrl(text).href, text);
  }
});

const WRONG = [
  ...["http://169.254.169.254/latest", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/x"],
  ...["http://127.0.0.1@evil.example/", "http://evil.example#@127.0.0.1/", "//127.0.0.1/x", "unix:///run/x.sock"],
  ...["ftp://127.0.0.1/x", "http+unix://run%2Fx.sock/", "http://user:word@10.0.0.1/x", "https://[fe80::1%25eth0]/x"],
  ...["http://127.0.0.1:99999/", "http://127.1.evil.example/", "http://0x7f.1.evil.example/", "javascript:1"],
  ...["file:///etc/shadow", "", "\0", "http://[::ffff:10.0.0.1]/", "http://0.0.0.0/", "http://[::]/"],
];
for (const text of WRONG) {
  test(`the address ${JSON.stringify(text)} is refused before anything is dialled`, () => {
    throws(() => runtimeUrl(text), OperatorError);
  });
}

test("an address of megabytes is refused, and the message repeats little of it", () => {
  const megabytes = "x".repeat(8 * 1024 * 1024);
  for (const text of [`http://127.0.0.1/${megabytes}`, `http://${megabytes}/`, megabytes]) {
    throws(
      () => runtimeUrl(text),
      (error: Error) => {
        ok(error.message.length < 500, `${error.message.length} characters`);
        return error instanceof OperatorError;
      },
    );
  }
});
