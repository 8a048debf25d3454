/**
 * Paths and behaviour follow get-convex/convex-backend
 * npm-packages/system-udfs/convex/_system.
 */

import * as deployment from "./deployment.ts";
import * as documents from "./documents.ts";
import type { SystemFunction } from "./system_function.ts";

export const SYSTEM_FUNCTIONS: Readonly<Record<string, SystemFunction>> = {
  "_system/cli/convexUrl:cloudUrl": deployment.cloudUrl,
  "_system/cli/convexUrl:siteUrl": deployment.siteUrl,
  "_system/cli/modules:apiSpec": deployment.apiSpec,
  "_system/cli/queryEnvironmentVariables": deployment.listEnvironmentVariables,
  "_system/cli/queryEnvironmentVariables:get": deployment.getEnvironmentVariable,
  "_system/cli/queryTable": documents.queryTable,
  "_system/cli/tableData": documents.tableData,
  "_system/cli/tableSize": deployment.tableSize,
  "_system/cli/tables": deployment.tables,
  "_system/frontend/addDocument": documents.addDocument,
  "_system/frontend/clearTablePage": documents.clearTablePage,
  "_system/frontend/components:list": deployment.listComponents,
  "_system/frontend/convexCloudUrl": deployment.cloudUrl,
  "_system/frontend/convexSiteUrl": deployment.siteUrl,
  "_system/frontend/deleteDocuments": documents.deleteDocuments,
  "_system/frontend/deploymentState:deploymentState": deployment.deploymentState,
  "_system/frontend/getById": documents.getById,
  "_system/frontend/getSchemas": deployment.getSchemas,
  "_system/frontend/getTableMapping": deployment.tableMapping,
  "_system/frontend/getVersion": deployment.getVersion,
  "_system/frontend/listById": documents.listById,
  "_system/frontend/listCronJobs": deployment.listCronJobs,
  "_system/frontend/listEnvironmentVariables": deployment.listEnvironmentVariables,
  "_system/frontend/listTableScan": documents.listTableScan,
  "_system/frontend/patchDocumentsFields": documents.patchDocumentsFields,
  "_system/frontend/replaceDocument": documents.replaceDocument,
  "_system/frontend/tableSize": deployment.tableSize,
};
