// Entry of the status page's script. The build puts it into the page's document (tools/bundle/page.mjs).

import { Page } from "./page.js";

const [header, main] = [document.querySelector("header"), document.querySelector("main")];
if (header !== null && main !== null) new Page(header, main).start();
