// The definitions of upstream are read as what they say: numbers and types of .proto files, tags and markers of
// types.go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMessages, formatMessages, ContractError } from "../../../tools/kubernetes/contract.js";
import { readGoTypes } from "../../../tools/kubernetes/sources/go-types.js";
import { readProto } from "../../../tools/kubernetes/sources/proto-file.js";
import { joinVersions, readVersion, SourceError } from "../../../tools/kubernetes/sources/read-contract.js";

const PROTO = `message Box {
  // A comment with optional string wrong = 9;
  optional string name = 1;

  repeated .k8s.io.apimachinery.pkg.apis.meta.v1.Time times = 3;

  map<string, Part> parts = 14;
}

message Empty {
}
`;

test("a .proto file gives numbers, names and types, and comments give nothing", () => {
  assert.deepEqual(
    [...readProto(PROTO)],
    [
      [
        "Box",
        [
          { number: 1, name: "name", type: "string", kind: "one" },
          { number: 3, name: "times", type: ".k8s.io.apimachinery.pkg.apis.meta.v1.Time", kind: "list" },
          { number: 14, name: "parts", type: "Part", kind: "map" },
        ],
      ],
      ["Empty", []],
    ],
  );
});

const GO = `
// +enum
// Colour is a word.
type Colour string

// Open has no known values.
type Open string

const (
	Red Colour = "red"
	NoColour Colour = ""
	Wide Open = "wide"
)

type Box struct {
	TypeMeta \`json:",inline"\`
	// Old string \`json:"old" protobuf:"bytes,2,opt,name=old"\`
	// +featureGate=Gate
	// +optional
	Name *Colour \`json:"name,omitempty" protobuf:"bytes,1,opt,name=name,casttype=Colour"\`
	Times []metav1.Time \`json:"times" patchStrategy:"merge" protobuf:"bytes,3,rep,name=times"\`
	Part \`json:",inline" protobuf:"bytes,4,opt,name=part"\`
	Other \`json:"" protobuf:"bytes,5,opt,name=other"\`
	ByName map[v1.Key]Part \`json:"byName,omitempty" protobuf:"bytes,14,opt,name=byName"\`
}
`;

test("a types.go gives the form of each field, its gates, and the values of marked types only", () => {
  const { structs, enums } = readGoTypes(GO);
  const common = { inline: false, omitsEmpty: false, isPointer: false, gates: [] };
  assert.deepEqual(
    [...(structs.get("Box") ?? [])],
    [
      [1, { ...common, json: "name", omitsEmpty: true, isPointer: true, type: "Colour", gates: ["Gate"] }],
      [3, { ...common, json: "times", type: "Time" }],
      [4, { ...common, json: "", inline: true, type: "Part" }],
      [5, { ...common, json: "", inline: true, type: "Other" }],
      [14, { ...common, json: "byName", omitsEmpty: true, type: "Part" }],
    ],
  );
  assert.deepEqual([...enums], [["Colour", ["red", ""]]]);
});

test("a version without a kind that the kubelet reads is an error that names it", async () => {
  const empty = await readVersion(() => Promise.resolve(""));
  assert.throws(() => joinVersions(empty, empty, "1.37"), SourceError);
});

test("a table of the contract is read as it was written, and a damaged one is refused", () => {
  const field = {
    json: "",
    type: "core.Part",
    kind: "one",
    form: "inline",
    enum: "",
    gate: "",
    release: "1.37",
  } as const;
  const messages = [{ name: "core.Box", fields: [{ ...field, number: 4, name: "part" }] }];
  const text = formatMessages(messages);
  assert.deepEqual(parseMessages(text), messages);
  assert.throws(() => parseMessages(text.replace("inline", "outline")), ContractError);
  assert.throws(() => parseMessages(text.replace("message", "massage")), ContractError);
});
