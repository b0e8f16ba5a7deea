// The first minutes on Debian 12.
import { firstMinutesOn } from "./first-minutes.js";

firstMinutesOn("bookworm");
