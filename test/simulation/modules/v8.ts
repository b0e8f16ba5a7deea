// node:v8 of the simulated machine: a heap that never changes. The real one depends on the machine's pace.

export const setFlagsFromString = (): void => undefined;
export const getHeapStatistics = (): object => ({
  total_heap_size: 50_000_000,
  total_physical_size: 1_000_000,
  used_heap_size: 40_000_000,
  malloced_memory: 1_000_000,
  external_memory: 1_000_000,
});
