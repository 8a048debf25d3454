import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { mutation, query } from "./_generated/server";

export function phonesOf({ phones, phone }: Doc<"employees">) {
  if (phones) return phones;
  return phone ? [{ label: "mobile" as const, number: phone }] : [];
}

function shown(employee: Doc<"employees">) {
  return {
    _id: employee._id,
    _creationTime: employee._creationTime,
    name: employee.name,
    office: employee.office,
    phones: phonesOf(employee),
    remote: employee.remote ?? false,
  };
}

export const list = query({
  args: { office: v.string(), remote: v.boolean() },
  handler: async (ctx, { office, remote }) => {
    const found: ReturnType<typeof shown>[] = [];
    for await (const employee of ctx.db.query("employees").withIndex("office", (q) => q.eq("office", office))) {
      if (Boolean(employee.remote) === remote) found.push(shown(employee));
    }
    return found.sort((a, b) => a.name.localeCompare(b.name));
  },
});

export const get = query({
  args: { employeeId: v.id("employees") },
  handler: async (ctx, { employeeId }) => {
    const employee = await ctx.db.get("employees", employeeId);
    return employee && shown(employee);
  },
});

export const addPhone = mutation({
  args: {
    employeeId: v.id("employees"),
    label: v.union(v.literal("mobile"), v.literal("home"), v.literal("work")),
    number: v.string(),
  },
  handler: async (ctx, { employeeId, ...phone }) => {
    const employee = await ctx.db.get("employees", employeeId);
    if (!employee) return null;
    await ctx.db.patch("employees", employeeId, {
      phone: undefined,
      phones: phonesOf(employee).concat(phone),
      remote: employee.remote ?? false,
    });
    const changed = await ctx.db.get("employees", employeeId);
    return changed && shown(changed);
  },
});
