// The hidden command that completion scripts call for the names of pods and containers.
export const NAMES_COMMAND = "__names";
