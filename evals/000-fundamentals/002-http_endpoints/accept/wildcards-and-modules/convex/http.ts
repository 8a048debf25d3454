import { httpRouter } from "convex/server";
import { follow } from "./endpoints/follow";
import * as links from "./endpoints/links";

const router = httpRouter();
router.route({ path: "/links", method: "OPTIONS", handler: links.preflight });
router.route({ pathPrefix: "/links/", method: "OPTIONS", handler: links.preflight });
router.route({ pathPrefix: "/links/", method: "DELETE", handler: links.remove });
router.route({ path: "/links", method: "DELETE", handler: links.notAllowed });
router.route({ path: "/links", method: "PATCH", handler: links.notAllowed });
router.route({ path: "/links", method: "PUT", handler: links.notAllowed });
router.route({ path: "/links", method: "GET", handler: links.list });
router.route({ path: "/links", method: "POST", handler: links.add });
router.route({ pathPrefix: "/go/", method: "GET", handler: follow });
export default router;
