// Flags of the node as the cluster sees it, of the pods it is given without a cluster, and of the agent's servers.
import { equalOf, flag, mirror, type Flags } from "./flag.js";

export const NODE: Flags = {
  "hostname-override": flag("string", "", "name of the node instead of the host name"),
  "node-ip": flag("nodeIPs", "", "address of the node, or an IPv4 and an IPv6 one; 0.0.0.0 or :: picks by family"),
  "node-labels": flag("stringMap", "", "labels of the node when it registers: key=value,…"),
  "register-node": mirror("bool", "true", "registerNode", "register this node with the API server"),
  "register-with-taints": mirror(
    "taints",
    "",
    "registerWithTaints",
    "taints of the node when it first registers: key=value:Effect,…",
  ),
  "provider-id": equalOf("string", "", "providerID", "identity of the machine at the cloud provider"),
  "cloud-provider": flag("string", "", "empty, or external when a cloud controller manager sets up the node"),
  "node-status-update-frequency": mirror(
    "duration",
    "10s",
    "nodeStatusUpdateFrequency",
    "time between two computations of the node's status",
  ),
  "node-status-max-images": mirror(
    "int32",
    "50",
    "nodeStatusMaxImages",
    "images listed in the node's status; -1: all of them",
  ),
  "max-pods": mirror("int32", "110", "maxPods", "most pods this node runs"),
  "pods-per-core": mirror("int32", "0", "podsPerCore", "most pods per CPU, within --max-pods; 0: no such limit"),
};

export const SOURCES: Flags = {
  "pod-manifest-path": mirror("string", "", "staticPodPath", "file or directory of static pod manifests"),
  "file-check-frequency": mirror("duration", "20s", "fileCheckFrequency", "time between scans of --pod-manifest-path"),
  "manifest-url": mirror("string", "", "staticPodURL", "URL of static pod manifests"),
  "manifest-url-header": mirror(
    "headerMap",
    "",
    "staticPodURLHeader",
    "headers for --manifest-url, name:value,…; repeat for more",
    { secret: true },
  ),
  "http-check-frequency": mirror("duration", "20s", "httpCheckFrequency", "time between requests to --manifest-url"),
};

export const SERVERS: Flags = {
  "enable-server": mirror("bool", "true", "enableServer", "serve the agent's HTTPS API"),
  address: mirror("ip", "0.0.0.0", "address", "IP address to listen on; 0.0.0.0 or :: for all"),
  port: mirror("port", "10250", "port", "port of the HTTPS API"),
  "read-only-port": mirror(
    "port",
    "10255",
    "readOnlyPort",
    "port of /pods, /healthz and /metrics without authentication; 0: off",
  ),
  "healthz-port": mirror("port", "10248", "healthzPort", "port of the plain /healthz; 0: off"),
  "healthz-bind-address": mirror("ip", "127.0.0.1", "healthzBindAddress", "IP address the healthz port listens on"),
  "tls-cert-file": mirror("string", "", "tlsCertFile", "serving certificate; without it one is made in --cert-dir"),
  "tls-private-key-file": mirror("string", "", "tlsPrivateKeyFile", "private key of --tls-cert-file"),
  "tls-min-version": mirror("string", "", "tlsMinVersion", "VersionTLS10 to VersionTLS13; empty: VersionTLS12"),
  "tls-cipher-suites": mirror("strings", "", "tlsCipherSuites", "cipher suites up to TLS 1.2, by their Go names"),
  "client-ca-file": mirror(
    "string",
    "",
    "authentication.x509.clientCAFile",
    "CA certificates that clients' certificates are checked with",
  ),
  "anonymous-auth": mirror(
    "bool",
    "true",
    "authentication.anonymous.enabled",
    "let requests without credentials in, as system:anonymous",
  ),
  "authentication-token-webhook": mirror(
    "bool",
    "false",
    "authentication.webhook.enabled",
    "have the API server check bearer tokens",
  ),
  "authentication-token-webhook-cache-ttl": mirror(
    "duration",
    "2m0s",
    "authentication.webhook.cacheTTL",
    "how long answers about tokens are kept",
  ),
  "authorization-mode": mirror("string", "AlwaysAllow", "authorization.mode", "AlwaysAllow or Webhook"),
  "authorization-webhook-cache-authorized-ttl": mirror(
    "duration",
    "5m0s",
    "authorization.webhook.cacheAuthorizedTTL",
    "how long a yes of the authorization webhook is kept",
  ),
  "authorization-webhook-cache-unauthorized-ttl": mirror(
    "duration",
    "30s",
    "authorization.webhook.cacheUnauthorizedTTL",
    "how long a no of the authorization webhook is kept",
  ),
  "enable-debugging-handlers": mirror(
    "bool",
    "true",
    "enableDebuggingHandlers",
    "serve exec, attach, port-forward, logs and what helps debugging",
  ),
  "contention-profiling": mirror(
    "bool",
    "false",
    "enableContentionProfiling",
    "offer a profile of where the agent waits",
  ),
  "streaming-connection-idle-timeout": mirror(
    "duration",
    "4h0m0s",
    "streamingConnectionIdleTimeout",
    "an idle exec, attach or port-forward is closed after this time; 0: never",
  ),
};
