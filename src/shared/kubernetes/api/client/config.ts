// Address and credentials of an API server: plain data, so that one thread may read the kubeconfig for all.
// Field names are client-go's Config where it has them.

/** A text kept in place, or in a file that may be replaced at any time. */
export type Source = { data: string } | { file: string };

/** A program that prints credentials (client.authentication.k8s.io). */
export interface ExecConfig {
  apiVersion: string;
  /** A path, or a name that PATH finds. */
  command: string;
  args: string[];
  env: { name: string; value: string }[];
  /** Shown when the command is not there. */
  installHint: string;
  provideClusterInfo: boolean;
  /** It would ask questions, for which the kubelet has no terminal: each run fails. */
  needsTerminal?: true;
  /** The cluster's extension "client.authentication.k8s.io/exec", passed on unchanged. */
  clusterConfig?: unknown;
}

export interface ClientConfig {
  /** The path of the file, for messages. */
  origin: string;
  /** http or https, without a slash at its end; a path in it precedes all paths. */
  server: string;
  /** The name that the server's certificate must have, instead of its host. */
  tlsServerName?: string;
  insecureSkipTlsVerify?: boolean;
  /** PEM; absent: the certificates that Node trusts. */
  certificateAuthority?: Source;
  /** Absent: HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide. */
  proxyUrl?: string;
  disableCompression?: boolean;
  /** Media type of objects in requests and responses: "application/vnd.kubernetes.protobuf", or JSON. */
  contentType?: string;
  /** PEM; both may be the same file. */
  clientCertificate?: { certificate: Source; key: Source };
  /** A file with certificate and key that take the place of `clientCertificate` as long as they are good. */
  renewedCertificate?: string | undefined;
  /** Used while the file of `tokenFile` can't be read. */
  token?: string;
  tokenFile?: string;
  basic?: { username: string; password: string };
  exec?: ExecConfig;
  impersonate?: { user: string; uid?: string; groups: string[]; extra: Record<string, string[]> };
}
