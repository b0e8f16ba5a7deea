// The answers of flexVolume drivers, as upstream reads them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FlexNotSupportedError, readAnswer } from "../../../../src/main/volumes/flex/answer.js";
import { checkedDriver, FlexSpecError } from "../../../../src/main/volumes/flex/names.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";

const DEFAULTS = {
  attach: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};

test("A successful response: capabilities that it does not name have upstream's defaults, keys have no case", () => {
  for (const [text, device, capabilities] of [
    [`{"status":"Success"}`, "", DEFAULTS],
    [`{"status":"Success","device":"/dev/sdx","message":"m"}\n`, "/dev/sdx", DEFAULTS],
    [`{"Status":"Success","Capabilities":{"Attach":false,"fsGroup":"no"}}`, "", { ...DEFAULTS, attach: false }],
    [
      `{"status":"Success","capabilities":{"supportsMetrics":true,"selinuxRelabel":false}}`,
      "",
      { ...DEFAULTS, supportsMetrics: true, selinuxRelabel: false },
    ],
    [`{"status":"Success","capabilities":null,"device":7}`, "", DEFAULTS],
  ] as const) {
    assert.deepEqual(readAnswer("init", text), { device, capabilities }, text);
  }
});

test("Failures name the command and the driver's reason", () => {
  for (const [text, message] of [
    [`{"status":"Failure","message":"no disk"}`, /^attach command failed, status: Failure, reason: no disk$/],
    [`{}`, /^attach command failed, status: , reason: $/],
    ["", /not JSON/],
    ["+ set -x\n{}", /not JSON: "\+ set -x/],
    [`["Success"]`, /not a JSON object/],
    ["null", /not a JSON object/],
    [`{"status":"Success"`, /not JSON/],
    ["[".repeat(64 * 1024 + 1), /longer than 65536 characters/],
  ] as const) {
    assert.throws(
      () => readAnswer("attach", text),
      (error) => error instanceof VolumeError && message.test(error.message),
      text,
    );
  }
  assert.throws(() => readAnswer("attach", `{"status":"Not supported"}`), FlexNotSupportedError);
});

test("The name of a driver becomes a directory and a program: nothing leads out of the driver directory", () => {
  for (const name of ["k8s/nfs", "lvm", "example.com/my_driver-2"]) assert.equal(checkedDriver(name), name);
  const wrong = [
    "",
    "..",
    "a/../b",
    "../x",
    "a/b/c",
    "/x",
    "x/",
    ".hidden/x",
    "a b",
    "a/..",
    "kubernetes.io/nfs",
    7,
    undefined,
  ];
  for (const name of wrong) assert.throws(() => checkedDriver(name), FlexSpecError, String(name));
});
