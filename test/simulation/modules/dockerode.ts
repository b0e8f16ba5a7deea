// The client of a Docker Engine; a simulated node has none.

export default class Docker {
  constructor() {
    throw new Error("no Docker Engine is simulated");
  }
}
