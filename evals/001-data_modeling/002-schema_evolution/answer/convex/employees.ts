import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";
import { label, phones } from "./schema";
import { inNewShape } from "./shapes";

const returned = v.object({
  _id: v.id("employees"),
  _creationTime: v.number(),
  name: v.string(),
  office: v.string(),
  phones,
  remote: v.boolean(),
});

function withoutPhoto(employee: Doc<"employees">) {
  const { _id, _creationTime, name, office, phones, remote } = inNewShape(employee);
  return { _id, _creationTime, name, office, phones, remote };
}

export const get = query({
  args: { employeeId: v.id("employees") },
  returns: v.union(returned, v.null()),
  handler: async (ctx, args) => {
    const employee = await ctx.db.get(args.employeeId);
    return employee === null ? null : withoutPhoto(employee);
  },
});

export const list = query({
  args: { office: v.string(), remote: v.boolean() },
  returns: v.array(returned),
  handler: async (ctx, args) => {
    const employees = await ctx.db
      .query("employees")
      .withIndex("by_office_and_name", (q) => q.eq("office", args.office))
      .collect();
    return employees.map(withoutPhoto).filter((employee) => employee.remote === args.remote);
  },
});

export const addPhone = mutation({
  args: { employeeId: v.id("employees"), label, number: v.string() },
  returns: v.union(returned, v.null()),
  handler: async (ctx, args) => {
    const stored = await ctx.db.get(args.employeeId);
    if (stored === null) {
      return null;
    }
    const employee = inNewShape(stored);
    const changed = { ...employee, phones: [...employee.phones, { label: args.label, number: args.number }] };
    await ctx.db.replace(args.employeeId, changed);
    return withoutPhoto(changed);
  },
});
