// The rules of this repository that no ESLint plugin has, one file each. CONTRIBUTING.md has them in words.

import { commentWidth } from "./comment-width.mjs";
import { oneIdea } from "./one-idea.mjs";

export default {
  meta: { name: "nodelet" },
  rules: { "comment-width": commentWidth, "one-idea": oneIdea },
};
