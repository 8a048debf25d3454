/** Pages with charts get this beside pages.js. */
import { drawFigures } from "./figure.ts";

drawFigures();
document.addEventListener("pages:exchanged", drawFigures);
