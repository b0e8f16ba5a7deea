// Runs the kubelet under a clinic.js tool, in place of the plain entry point: `npm run profile` starts it.

import { spawn } from "node:child_process";
import { KUBELET_ENTRY, KUBELET_NODE_FLAGS } from "../tools/standalone/kubelet-process.js";

const tool = process.env["NODELET_PROFILE_TOOL"] ?? "doctor";
const destination = process.env["NODELET_PROFILE_DIR"] ?? ".";
const clinic = process.env["NODELET_PROFILE_CLINIC"] ?? "clinic";
const kubelet = process.env["NODELET_PROFILE_KUBELET"] ?? KUBELET_ENTRY;
const command = [tool, "--open", "false", "--dest", destination, "--", process.execPath];
const child = spawn(clinic, [...command, ...KUBELET_NODE_FLAGS, kubelet, ...process.argv.slice(2)], {
  stdio: "inherit",
  // Without a terminal clinic would ask for permission to collect statistics, and end without an answer.
  env: { ...process.env, NO_INSIGHT: "true" },
});
// clinic passes SIGINT on to what it watches, waits for its end, and then makes the report.
process.on("SIGTERM", () => child.kill("SIGINT"));
child.on("exit", (code) => process.exit(code ?? 1));
