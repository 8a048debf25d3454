import type { Doc } from "./_generated/dataModel";

type Employee = Doc<"employees">;

export function isOld(employee: Employee): boolean {
  return employee.phones === undefined;
}

/** The employee in the new shape, whatever shape it is stored in. */
export function inNewShape({ phone, phones, ...rest }: Employee) {
  return {
    ...rest,
    phones: phones ?? (phone ? [{ label: "mobile" as const, number: phone }] : []),
    remote: rest.remote ?? false,
  };
}
