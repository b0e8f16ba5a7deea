// The rules of this repository that no ESLint plugin has, one file each. CONTRIBUTING.md has them in words.

import { commentWidth } from "./comment-width.mjs";
import { conditionalSpread } from "./conditional-spread.mjs";
import { dependencyLists } from "./dependency-lists.mjs";
import { depsSpread } from "./deps-spread.mjs";
import { docstringSubject } from "./docstring-subject.mjs";
import { oneIdea } from "./one-idea.mjs";
import { testTitle } from "./test-title.mjs";

export default {
  meta: { name: "nodelet" },
  rules: {
    "comment-width": commentWidth,
    "conditional-spread": conditionalSpread,
    "dependency-lists": dependencyLists,
    "deps-spread": depsSpread,
    "docstring-subject": docstringSubject,
    "one-idea": oneIdea,
    "test-title": testTitle,
  },
};
