// The value types of flags and config fields, and their decoded forms.

export interface Taint {
  key: string;
  value: string;
  /** NoSchedule, PreferNoSchedule, NoExecute; "" is refused or not by validation. */
  effect: string;
  /** RFC 3339; validation refuses it. */
  timeAdded?: string;
}

export interface MemoryReservation {
  numaNode: number;
  /** Quantities by resource: memory, hugepages-2Mi … */
  limits: Record<string, string>;
}

export interface ShutdownPriority {
  priority: number;
  shutdownGracePeriodSeconds: number;
}

export interface ModuleVerbosity {
  filePattern: string;
  verbosity: number;
}

export interface Decoded {
  string: string;
  bool: boolean;
  int32: number;
  /** Whole; beyond 2^53 the nearest number that JSON writes exactly. */
  int64: number;
  uint32: number;
  float64: number;
  /** Milliseconds. In JSON: Go duration text such as "1m30s". */
  duration: number;
  /** Milliseconds. In JSON: Go duration text, or a number of nanoseconds. */
  durationOrNanos: number;
  /** Text as written. */
  quantity: string;
  strings: string[];
  ints: number[];
  stringMap: Record<string, string>;
  boolMap: Record<string, boolean>;
  quantityMap: Record<string, string>;
  /** Name to list of values. */
  headerMap: Record<string, string[]>;
  taints: Taint[];
  reservedMemory: MemoryReservation[];
  shutdownPriorities: ShutdownPriority[];
  vmodule: ModuleVerbosity[];
}

export type ValueType = keyof Decoded;
