import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range the kernel gives to others (ip_local_port_range), so that no connection of another test takes it. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** A port free on loopback just now; a second call does not give the same one for a long while. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = createServer();
    const taken = once(server, "error").then(() => true);
    server.listen(port, "127.0.0.1");
    if (await Promise.race([taken, once(server, "listening").then(() => false)])) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
