// The routes of the manifest API; what answers them is loaded with the first request.

import type { Answer, Route } from "../../http/answer.js";
import type { ManifestAnswers } from "./answer.js";

export type LazyManifestAnswers = () => Promise<Pick<ManifestAnswers, "answer">>;

export function manifestRoutes(answers: LazyManifestAnswers): Route[] {
  const all: Answer = async (request, response, { target }) => (await answers()).answer(request, response, target);
  const one: Answer = async (request, response, { target, params: { namespace = "", name = "" } }) =>
    (await answers()).answer(request, response, target, { namespace, name });
  return [
    { path: "/manifests", service: "/manifests", methods: ["GET", "POST"], answer: all },
    { path: "/manifests/:namespace/:name", service: "/manifests", methods: ["GET", "PUT", "DELETE"], answer: one },
  ];
}
