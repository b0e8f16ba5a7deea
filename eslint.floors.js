// The floors of src/main, from top to bottom. A room imports only rooms on floors below its own, types included: so no
// two rooms need each other, and no circle of rooms exists. A new room gets a line here; eslint.config.js makes the
// rule of it.
export const FLOORS = [
  ["startup"],
  ["agent"],
  ["cluster"],
  ["node", "timeline"],
  ["sync"],
  ["collection"],
  ["logs", "runtime", "sources"],
  ["images", "threads"],
  ["admission", "eviction", "planner", "status", "volumes"],
  ["events", "probes", "resources", "user-namespaces"],
  ["command", "disk-usage", "network"],
  ["model"],
];

/** Zones of import-x/no-restricted-paths: each room with all that is not below it. */
export function floorZones() {
  const message = "src/main has floors: a room imports only rooms below its own (eslint.floors.js)";
  return FLOORS.flatMap((rooms, floor) =>
    rooms.map((room) => ({
      target: `./src/main/${room}`,
      from: FLOORS.slice(0, floor + 1)
        .flat()
        .filter((other) => other !== room)
        .map((other) => `./src/main/${other}`),
      message,
    })),
  ).filter(({ from }) => from.length > 0);
}
