// The rules of this repository that no ESLint plugin has, one file each. CONTRIBUTING.md has them in words.

import { commentWidth } from "./comment-width.mjs";
import { dependencyLists } from "./dependency-lists.mjs";
import { oneIdea } from "./one-idea.mjs";

export default {
  meta: { name: "nodelet" },
  rules: { "comment-width": commentWidth, "dependency-lists": dependencyLists, "one-idea": oneIdea },
};
