// /configz: the effective configuration, with ?origin=1 also where each value comes from. As upstream has it, on the
// authenticated port only.
import type { ConfigzBodies } from "../../shared/contracts/server.js";
import type { Route } from "./answer.js";
import { queryOf, replyText } from "./reply.js";

export function configzRoute(bodies: () => ConfigzBodies): Route {
  return {
    path: "/configz",
    methods: ["GET"],
    answer: (request, response) => {
      const wantsOrigins = /^(1|true|t)$/i.test(queryOf(request).get("origin") ?? "");
      replyText(response, wantsOrigins ? bodies().withOrigins : bodies().plain, "application/json");
    },
  };
}
