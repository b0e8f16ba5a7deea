// The tracing configuration of a thread: collector endpoint and sampling rate (KubeletConfiguration.tracing).

export interface TracingConfig {
  /** As a gRPC target: host:port, or "unix:///path". */
  target: string;
  /** 0: only requests whose caller sampled them. */
  samplingRatePerMillion: number;
  /** Attribute host.name of all spans. */
  hostName: string;
}
