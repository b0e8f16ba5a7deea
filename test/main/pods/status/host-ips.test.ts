import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import { HostIPs, nodeHostIPs, emitHostIPs, type HostIPsChange } from "../../../../src/main/pods/status/host-ips.js";
import type { NodeAddress } from "../../../../src/shared/kubernetes/api/node.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { makePod } from "./fixtures.js";

const nodeWith = (...addresses: string[]): { status: { addresses: NodeAddress[] } } => ({
  status: {
    addresses: addresses.map((text) => {
      const [type = "", address = ""] = text.split(" ");
      return { type, address } as NodeAddress;
    }),
  },
});

const rules: [string, string[], string[]][] = [
  ["one address", ["InternalIP 10.0.0.5", "Hostname n1"], ["10.0.0.5"]],
  ["dual stack, in the node's order", ["InternalIP fd00:0::5", "InternalIP 10.0.0.5"], ["fd00::5", "10.0.0.5"]],
  ["one per family", ["InternalIP 10.0.0.5", "InternalIP 10.0.0.6", "InternalIP fd00::5"], ["10.0.0.5", "fd00::5"]],
  ["internal before external", ["ExternalIP 192.0.2.1", "InternalIP 10.0.0.5"], ["10.0.0.5"]],
  ["external when there is no other", ["ExternalIP 192.0.2.1", "Hostname n1"], ["192.0.2.1"]],
  ["none", ["Hostname n1"], []],
];
for (const [name, addresses, expected] of rules) {
  test(`the host IPs of a Node: ${name}`, () => assert.deepEqual(nodeHostIPs(nodeWith(...addresses)), expected));
}

test("the machine's addresses count until the Node has some; only changes are reported", () => {
  const clock = new SteppedClock();
  const ips = new HostIPs(["10.0.2.15"], clock);
  const changes: HostIPsChange[] = [];
  ips.onChange((change) => changes.push(change));
  ips.setNode({});
  ips.setNode(nodeWith("Hostname n1"));
  assert.deepEqual(ips.current, ["10.0.2.15"]);
  ips.setNode(nodeWith("InternalIP 10.0.0.4"));
  ips.setNode(nodeWith("InternalIP 10.0.0.5"));
  clock.step(15_000);
  ips.setNode(nodeWith("InternalIP 10.0.0.5", "Hostname n1"));
  ips.setNode(nodeWith("InternalIP 10.0.0.5", "InternalIP fd00::5"));
  assert.deepEqual(ips.current, ["10.0.0.5", "fd00::5"]);
  assert.deepEqual(changes, [
    { before: ["10.0.2.15"], now: ["10.0.0.4"], guessed: true },
    { before: ["10.0.0.4"], now: ["10.0.0.5"], guessed: true },
    { before: ["10.0.0.5"], now: ["10.0.0.5", "fd00::5"], guessed: false },
  ]);
});

test("running pods are notified when the primary address is of another family", () => {
  const pods = [makePod(), { ...makePod({}, { uid: podUid("u2") }), status: { phase: "Failed" as const } }];
  const emitted: [string, EventInput][] = [];
  const shown: HostIPsChange[] = [];
  const statuses = { all: () => pods, hostIPsChanged: (change: HostIPsChange) => void shown.push(change) };
  const events = {
    pod: (pod: { metadata: { uid: string } }, event: EventInput) => emitted.push([pod.metadata.uid, event]),
  };
  const same = { before: ["10.0.0.5"], now: ["10.0.0.6", "fd00::5"], guessed: false };
  const other = { before: ["10.0.0.5"], now: ["fd00::5"], guessed: false };
  emitHostIPs(same, statuses, events);
  emitHostIPs(other, statuses, events);
  assert.deepEqual(shown, [same, other]);
  const message =
    "Kubelet detected an IPv4 node IP (10.0.0.5), but the cloud provider selected an IPv6 node IP (fd00::5); " +
    "pass an explicit `--node-ip` to kubelet to fix this.";
  assert.deepEqual(emitted, [["u1", { type: "Warning", reason: "HostIPsIPFamilyMismatch", message }]]);
});
