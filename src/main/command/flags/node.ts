// Flags of the node object, of static pods, and of the kubelet's servers.

import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const NODE: Flags = {
  "hostname-override": flag("string", "", "use this name instead of the host name as the node's name"),
  "node-ip": flag(
    "nodeIPs",
    "",
    "IP address of the node, or an IPv4 and an IPv6 address; 0.0.0.0 or :: selects the family only",
  ),
  "node-labels": flag("labels", "", "labels to add when the node registers: key=value,…"),
  "register-node": mirror("registerNode", "register this node with the API server"),
  "register-with-taints": mirror("registerWithTaints", "taints to add when the node registers: key=value:Effect,…"),
  "provider-id": equalOf("providerID", "unique identifier of the machine at the cloud provider"),
  "cloud-provider": flag("string", "", "empty, or external if a cloud controller manager initializes the node"),
  "node-status-update-frequency": mirror(
    "nodeStatusUpdateFrequency",
    "period between two computations of the node status",
  ),
  "node-status-max-images": mirror("nodeStatusMaxImages", "maximum number of images in the node status; -1: no limit"),
  "max-pods": mirror("maxPods", "maximum number of pods on this node"),
  "pods-per-core": mirror("podsPerCore", "maximum number of pods per core, at most --max-pods; 0: no limit"),
};

export const SOURCES: Flags = {
  "pod-manifest-path": mirror("staticPodPath", "file or directory of static pod manifests"),
  "file-check-frequency": mirror("fileCheckFrequency", "period between scans of --pod-manifest-path"),
  "manifest-url": mirror("staticPodURL", "URL of static pod manifests"),
  "manifest-url-header": mirror(
    "staticPodURLHeader",
    "HTTP headers for --manifest-url: name:value,…; can be repeated",
    { secret: true },
  ),
  "manifest-api": flag(
    "manifestAPI",
    "false",
    "accept manifests at /manifests/ on the authenticated port and on --admin-socket, or with =socket on the socket only, and keep them below --root-dir",
    { bare: "true" },
  ),
  "http-check-frequency": mirror("httpCheckFrequency", "period between requests to --manifest-url"),
};

export const SERVERS: Flags = {
  "admin-socket": flag(
    "string",
    "",
    "unix socket for the nodelet command; none: no socket. Without this flag it is /run/nodelet/kubelet.sock, or nodelet/kubelet.sock below a --root-dir other than /var/lib/kubelet",
  ),
  "admin-socket-group": flag(
    "string",
    "",
    "name or number of the group whose members may use --admin-socket; empty: root only",
  ),
  "status-page": flag(
    "bool",
    "false",
    "serve the status page at /ui/ of --port, to clients that may get nodes/ui or nodes/proxy",
  ),
  "status-page-port": flag(
    "port",
    "0",
    "serve the status page on this port of 127.0.0.1 without authentication: every user of this machine can read pods, logs and configuration; 0: disabled",
  ),
  "api-server-port": flag(
    "port",
    "0",
    "serve the Kubernetes API of this node on this port, for kubectl on a node without a cluster; 0: disabled",
  ),
  "api-server-address": flag("ip", "127.0.0.1", "IP address of --api-server-port; 0.0.0.0 or :: for all interfaces"),
  "enable-server": mirror("enableServer", "enable the kubelet's server"),
  address: mirror("address", "IP address that the kubelet serves on; 0.0.0.0 or :: for all interfaces", { kind: "ip" }),
  port: mirror("port", "port that the kubelet serves on, with authentication and authorization", { kind: "port" }),
  "read-only-port": mirror("readOnlyPort", "read-only port without authentication and authorization; 0: disabled", {
    kind: "port",
  }),
  "read-only-pods": flag(
    "bool",
    "true",
    "serve /pods, with the values of variables, and timelines of pods on --read-only-port; false: metrics and health only",
  ),
  "healthz-port": mirror("healthzPort", "port of the localhost healthz endpoint; 0: disabled", { kind: "port" }),
  "healthz-bind-address": mirror("healthzBindAddress", "IP address of the healthz server", { kind: "ip" }),
  "tls-cert-file": mirror(
    "tlsCertFile",
    "x509 certificate for HTTPS; if not set, the kubelet creates a self-signed certificate in --cert-dir",
  ),
  "tls-private-key-file": mirror("tlsPrivateKeyFile", "x509 private key that matches --tls-cert-file"),
  "tls-min-version": mirror("tlsMinVersion", "minimum TLS version: VersionTLS10 to VersionTLS13; empty: VersionTLS12"),
  "tls-cipher-suites": mirror("tlsCipherSuites", "cipher suites of the server up to TLS 1.2, by their Go names"),
  "client-ca-file": mirror(
    "authentication.x509.clientCAFile",
    "CA file; a request with a client certificate signed by one of these CAs is authenticated",
  ),
  "anonymous-auth": mirror(
    "authentication.anonymous.enabled",
    "allow anonymous requests, as user system:anonymous and group system:unauthenticated",
  ),
  "authentication-token-webhook": mirror(
    "authentication.webhook.enabled",
    "authenticate bearer tokens with the TokenReview API",
  ),
  "authentication-token-webhook-cache-ttl": mirror(
    "authentication.webhook.cacheTTL",
    "duration to cache responses of the token authenticator",
  ),
  "authorization-mode": mirror(
    "authorization.mode",
    "authorization mode: AlwaysAllow, or Webhook with the SubjectAccessReview API",
  ),
  "authorization-webhook-cache-authorized-ttl": mirror(
    "authorization.webhook.cacheAuthorizedTTL",
    "duration to cache authorized responses of the webhook authorizer",
  ),
  "authorization-webhook-cache-unauthorized-ttl": mirror(
    "authorization.webhook.cacheUnauthorizedTTL",
    "duration to cache unauthorized responses of the webhook authorizer",
  ),
  "enable-debugging-handlers": mirror(
    "enableDebuggingHandlers",
    "enable the endpoints for logs, for running containers and commands, and for debugging",
  ),
  "contention-profiling": mirror("enableContentionProfiling", "enable block profiling"),
  "streaming-connection-idle-timeout": mirror(
    "streamingConnectionIdleTimeout",
    "maximum time that a streaming connection can be idle before it is closed; 0: no timeout",
  ),
};
