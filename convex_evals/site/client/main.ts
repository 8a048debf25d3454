/** What every page gets. Pages are whole without it. */
import { enableChoosing } from "./choose.ts";
import { enableFilters } from "./filter.ts";
import { describeKeys, enableKeys } from "./keys.ts";
import { enableLabel } from "./label.ts";
import { follow, rememberSources } from "./live.ts";
import { enablePacked } from "./packed.ts";
import { openForPrint } from "./print.ts";
import { enableSorting } from "./sort.ts";
import { addThemeSwitch } from "./theme.ts";

/** Also what a live update has brought; what is enhanced already stays as it is. */
function enhance(): void {
  enableSorting();
  enableFilters();
  enablePacked();
  enableChoosing();
  describeKeys();
}

rememberSources();
document.documentElement.classList.add("js");
addThemeSwitch();
enableKeys();
enhance();
enableLabel();
openForPrint();
follow(enhance);
document.addEventListener("label:exchanged", describeKeys);
