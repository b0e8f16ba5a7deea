// The first minutes on Debian 13.

import { firstMinutesOn } from "./first-minutes.js";

firstMinutesOn("trixie");
