// The script of the site. Without it every page is readable: search, menu and copy buttons appear only with it.

import { addCopyButtons } from "./copy.js";
import { connectMenu } from "./menu.js";
import { connectSearch } from "./search.js";

document.documentElement.classList.add("scripted");
connectMenu();
connectSearch();
addCopyButtons();
