import { equal } from "node:assert/strict";
import { test } from "node:test";
import { isReportable, versionText } from "../../../src/main/command/version.js";

test("--version=true prints the version's name", () => {
  equal(versionText("true"), "Kubernetes v1.36.0");
  equal(versionText("true", "v1.36.0-vendor"), "Kubernetes v1.36.0-vendor");
});

test("raw is upstream's struct in upstream's order", () => {
  const text = versionText("raw");
  const [, body = ""] = /^version\.Info\{(.*)\}$/.exec(text) ?? [];
  equal(
    body.replace(/"[^"]*"/g, "").replaceAll(":", ""),
    "Major, Minor, EmulationMajor, EmulationMinor, MinCompatibilityMajor, MinCompatibilityMinor, GitVersion, GitCommit, " +
      "GitTreeState, BuildDate, GoVersion, Compiler, Platform",
  );
  equal(/Major:"1", Minor:"36", .*GitVersion:"v1\.36\.0"/.test(text), true);
});

test("versions that may be reported", () => {
  for (const [version, fine] of [
    ["v1.36.0", true],
    ["v1.36.0-eks.1", true],
    ["v1.36.0+abc", true],
    ["v1.36.01", false],
    ["v1.36.1", false],
    ["1.36.0", false],
  ] as const) {
    equal(isReportable(version), fine, version);
  }
});
