// Variables of services, as Docker's links had them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceEnv } from "../../../../src/main/containers/runtime/service-env.js";
import type { Service } from "../../../../src/shared/kubernetes/api/objects.js";

const service = (
  namespace: string,
  name: string,
  clusterIP: string,
  ports: NonNullable<Service["spec"]>["ports"] = [{ port: 80 }],
): Service => ({
  metadata: { name, namespace },
  spec: { clusterIP, ports },
});
const API = service("default", "kubernetes", "10.96.0.1", [{ name: "https", port: 443, protocol: "TCP" }]);
const env = (services: Service[], links = true) => Object.fromEntries(serviceEnv(services, "ns", links));

test("every port, its parts, and the first as the service's own", () => {
  const ports = [
    { port: 8081, name: "web-ui" },
    { port: 53, name: "dns", protocol: "UDP" as const },
  ];
  assert.deepEqual(env([service("ns", "my-db", "1.2.3.4", ports)]), {
    MY_DB_SERVICE_HOST: "1.2.3.4",
    MY_DB_SERVICE_PORT: "8081",
    MY_DB_SERVICE_PORT_WEB_UI: "8081",
    MY_DB_SERVICE_PORT_DNS: "53",
    MY_DB_PORT: "tcp://1.2.3.4:8081",
    MY_DB_PORT_8081_TCP: "tcp://1.2.3.4:8081",
    MY_DB_PORT_8081_TCP_PROTO: "tcp",
    MY_DB_PORT_8081_TCP_PORT: "8081",
    MY_DB_PORT_8081_TCP_ADDR: "1.2.3.4",
    MY_DB_PORT_53_UDP: "udp://1.2.3.4:53",
    MY_DB_PORT_53_UDP_PROTO: "udp",
    MY_DB_PORT_53_UDP_PORT: "53",
    MY_DB_PORT_53_UDP_ADDR: "1.2.3.4",
  });
});

test("an IPv6 address is in brackets in URLs only", () => {
  const found = env([service("ns", "x", "fd00::1")]);
  assert.equal(found["X_PORT"], "tcp://[fd00::1]:80");
  assert.equal(found["X_PORT_80_TCP_ADDR"], "fd00::1");
});

test("services in the environment: the namespace's with links, the API server's always", () => {
  const all = [
    API,
    service("ns", "a", "1.1.1.1"),
    service("other", "b", "1.1.1.2"),
    service("default", "c", "1.1.1.3"),
  ];
  const hosts = (links: boolean) => Object.keys(env(all, links)).filter((name) => name.endsWith("_SERVICE_HOST"));
  assert.deepEqual(hosts(true), ["A_SERVICE_HOST", "KUBERNETES_SERVICE_HOST"]);
  assert.deepEqual(hosts(false), ["KUBERNETES_SERVICE_HOST"]);
  const own = service("ns", "kubernetes", "9.9.9.9");
  for (const both of [
    [API, own],
    [own, API],
  ]) {
    assert.equal(env(both)["KUBERNETES_SERVICE_HOST"], "9.9.9.9");
    assert.equal(env(both, false)["KUBERNETES_SERVICE_HOST"], "10.96.0.1");
  }
});

test("services without an address have no variables", () => {
  assert.deepEqual(
    env([service("ns", "a", "None"), service("ns", "b", ""), { metadata: { name: "c", namespace: "ns" } }]),
    {},
  );
});
