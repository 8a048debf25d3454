import { v } from "convex/values";
import { mutation, query } from "./_generated/server";
import { employeeView, toNewShape, toView } from "./model/employees";
import { phoneLabel } from "./schema";

export const get = query({
  args: { employeeId: v.id("employees") },
  returns: v.nullable(employeeView),
  handler: async (ctx, { employeeId }) => {
    const employee = await ctx.db.get("employees", employeeId);
    return employee === null ? null : toView(employee);
  },
});

export const list = query({
  args: { office: v.string(), remote: v.boolean() },
  returns: v.array(employeeView),
  handler: async (ctx, { office, remote }) => {
    const colleagues = await ctx.db
      .query("employees")
      .withIndex("by_office_and_name", (q) => q.eq("office", office))
      .collect();
    return colleagues
      .map(toView)
      .filter((employee) => employee.remote === remote);
  },
});

export const addPhone = mutation({
  args: {
    employeeId: v.id("employees"),
    label: phoneLabel,
    number: v.string(),
  },
  returns: v.nullable(employeeView),
  handler: async (ctx, { employeeId, label, number }) => {
    const employee = await ctx.db.get("employees", employeeId);
    if (employee === null) {
      return null;
    }
    const view = toView(employee);
    const phones = [...view.phones, { label, number }];
    await ctx.db.replace("employees", employeeId, {
      ...toNewShape(employee),
      phones,
    });
    return { ...view, phones };
  },
});
